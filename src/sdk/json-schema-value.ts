// JsonSchemaValue: infers the TypeScript type of values that match a JSON Schema literal. Keywords that types cannot express
// ($ref, not, if, patternProperties) give `unknown`.

export type JsonSchemaValue<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer One)[] }
      ? JsonSchemaValue<One>
      : Schema extends { readonly oneOf: readonly (infer One)[] }
        ? JsonSchemaValue<One>
        : Schema extends { readonly type: readonly (infer Type)[] }
          ? ValueOfType<Type, Schema>
          : Schema extends { readonly type: infer Type }
            ? ValueOfType<Type, Schema>
            : Schema extends { readonly properties: object }
              ? ObjectValue<Schema>
              : unknown;

/** The type of values for a schema's `type`, which may be a list of types. */
type ValueOfType<Type, Schema> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? ListValue<Schema>
          : Type extends "object"
            ? ObjectValue<Schema>
            : unknown;

type ListValue<Schema> = Schema extends { readonly prefixItems: infer Items extends readonly unknown[] }
  ? [...{ [Index in keyof Items]: JsonSchemaValue<Items[Index]> }, ...unknown[]]
  : Schema extends { readonly items: infer Item }
    ? JsonSchemaValue<Item>[]
    : unknown[];

type ObjectValue<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      {
        -readonly [Name in keyof Properties as Name extends Required<Schema> ? Name : never]: JsonSchemaValue<
          Properties[Name]
        >;
      } & {
        -readonly [Name in keyof Properties as Name extends Required<Schema> ? never : Name]?: JsonSchemaValue<
          Properties[Name]
        >;
      }
    >
  : Schema extends { readonly additionalProperties: infer Value extends object }
    ? Record<string, JsonSchemaValue<Value>>
    : Record<string, unknown>;

type Required<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** Merges an intersection into one object type. */
type Flat<Value> = { [Name in keyof Value]: Value[Name] };
