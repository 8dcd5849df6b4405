/** The typed client of the dashboard: its endpoints, their input and their output are those of the definition that the service serves. */
import { HttpApi } from "effect/http-api"
import { describe, expect, expectTypeOf, it } from "vitest"
import { AdminHttpApi } from "../../../src/admin/api/AdminHttpApi.ts"
import { findMethods } from "../../../src/admin/http/RouteTable.ts"
import type { Endpoint, Input, Item, Output } from "../../../src/dashboard/client/Endpoints.ts"

/** Names as a page writes them. The compiler refuses one that the definition lacks. */
const used: ReadonlyArray<Endpoint> = [
  "GET /runs/:id",
  "POST /config/changesets",
  "PUT /config/drafts/:id",
  "DELETE /config/drafts/:id",
  "GET /config/revisions/:number"
]

describe("the typed client", () => {
  it("names each endpoint by its method and path", () => {
    const names = new Set<string>()
    HttpApi.reflect(AdminHttpApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint }) => names.add(`${endpoint.method} ${endpoint.path.replace("/api/admin", "")}`)
    })
    for (const name of used) expect(names).toContain(name)
    for (const name of names) expect(findMethods(`/api/admin${name.split(" ")[1]}`)).toContain(name.split(" ")[0])
  })

  it("has the types of the definition", () => {
    expectTypeOf<"GET /nothing">().not.toExtend<Endpoint>()
    expectTypeOf<string>().not.toExtend<Endpoint>()
    expectTypeOf<{ readonly params: { readonly id: string } }>().toExtend<Input<"GET /runs/:id">>()
    expectTypeOf<{}>().not.toExtend<Input<"GET /runs/:id">>()
    expectTypeOf<{}>().not.toExtend<Input<"POST /config/changesets">>()
    expectTypeOf<Output<"GET /config/status">["head"]>().toEqualTypeOf<number>()
    expectTypeOf<Item<"GET /runs">["id"]>().toEqualTypeOf<string>()
  })
})
