/**
 * Types of the admin API, derived from its definition in src/admin/api. An endpoint is named by its method and path, such as `GET /runs/:id`, so that
 * the name is the request and no table of endpoints is needed at run time. Only types are imported: no code of the service reaches the browser.
 */
import type { AdminRoute, EndpointsByRoute } from "../../admin/api/AdminRoute.ts"
import type { HttpApiSchema } from "effect/http-api"
import type { Schema } from "effect"

/** Method and path of an endpoint. */
export type Endpoint = AdminRoute

type Decoded<S> = [S] extends [never] ? undefined : S extends { readonly Type: infer A } ? A : undefined

type SuccessOf<S> =
  S extends HttpApiSchema.WithHeaders<infer Body, infer _Headers>
    ? SuccessOf<Body>
    : S extends Schema.Top
      ? S["Type"]
      : never

/** JSON of a successful response. */
export type Output<E extends Endpoint> = SuccessOf<EndpointsByRoute[E]["~Success"]>

/** An item of a list. */
export type Item<E extends Endpoint> = Output<E> extends { readonly items: ReadonlyArray<infer A> } ? A : never

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? { readonly [K in Name]?: undefined }
  : // A part without required fields may be omitted.
    {} extends Value
    ? { readonly [K in Name]?: Value | undefined }
    : { readonly [K in Name]: Value }

/** Parameters of a query that are undefined are omitted. */
type Loose<Value> = Value extends undefined ? undefined : { readonly [K in keyof Value]: Value[K] | undefined }

/** Parameters of a request. */
export type Input<E extends Endpoint> = Part<"params", Decoded<EndpointsByRoute[E]["~Params"]>> &
  Part<"query", Loose<Decoded<EndpointsByRoute[E]["~Query"]>>> &
  Part<"payload", Decoded<EndpointsByRoute[E]["~Payload"]>>
