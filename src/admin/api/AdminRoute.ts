/** Names of the endpoints by method and path, derived from the definition of the administration. Types only. */
import type { AdminHttpApi } from "./AdminHttpApi.ts"

type GroupsIn<Api> = Api extends { readonly groups: infer Groups } ? Groups[keyof Groups] : never
type EndpointsIn<Group> = Group extends { readonly endpoints: infer Found } ? Found[keyof Found] : never

/** The parts of the type of an endpoint that requests depend on. */
interface Described {
  readonly method: string
  readonly path: string
  readonly "~Params": unknown
  readonly "~Query": unknown
  readonly "~Payload": unknown
  readonly "~Success": unknown
}

type Endpoints = Extract<EndpointsIn<GroupsIn<typeof AdminHttpApi>>, Described>
type WithoutPrefix<Path extends string> = Path extends `/api/admin${infer Rest}` ? Rest : Path
type NameOf<E extends Described> = `${E["method"]} ${WithoutPrefix<E["path"]>}`

/** Types of the endpoints by name. */
export type EndpointsByRoute = { [E in Endpoints as NameOf<E>]: E }

/** Method and path of an endpoint below `/api/admin`, such as `GET /runs/:id`. */
export type AdminRoute = keyof EndpointsByRoute & string
