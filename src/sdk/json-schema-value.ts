// JsonSchemaValue: the type of the values that fit a JSON Schema which is written down in the program. What it says in ways
// that types cannot follow ($ref, not, if, patternProperties) is `unknown` there.

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

/** For each of several types by itself. */
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

/** One object instead of two. */
type Flat<Value> = { [Name in keyof Value]: Value[Name] };
