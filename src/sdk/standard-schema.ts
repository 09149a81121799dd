// Standard Schema (standardschema.dev): what zod, valibot, arktype and others have in common. Written out here, so that
// nobody needs a further package for the types.

export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Else it is a JSON Schema. Functions are schemas in some libraries. */
export function isStandardSchema(schema: object): schema is StandardSchema {
  return "~standard" in schema;
}
