/** Rights by scopes use recent listings, and never those of another corporation. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { Directories } from "../../../src/chat/members/Directories.ts"
import { findMemberships } from "../../../src/chat/members/Memberships.ts"
import { snapshotFrom } from "../../outputs/FromDocument.ts"

const scopes = ["1", "2"].map((id) => ({ kind: "wecom_tag", id }))
const snapshot = (directory_cache_ttl_seconds: number) =>
  snapshotFrom(
    {
      triggers: [{ name: "main", kind: "manual" }],
      outputs: { author_resolution: { directory_cache_ttl_seconds } },
      im: {
        connections: { corp: { kind: "wecom_app", corp_id: "c", agent_id: "5", app_secret_env: "SECRET" } },
        command_bindings: {
          all: {
            enabled: true,
            connection: "corp",
            actors: scopes,
            conversations: [{ kind: "app_direct", id: "5" }],
            commands: ["help"]
          }
        }
      }
    },
    { SECRET: "s3cret-value" }
  )

const find = async (type: "wecom_userid" | "wecom_encrypted_userid", ttl = 43_200) => {
  const ages = new Array<number>()
  const listScope: (typeof Directories.Service)["listScope"] = (_app, scope, maxAge) => {
    ages.push(maxAge)
    return scope.kind === "wecom_tag" && scope.id === "2"
      ? Effect.fail(new ForgeError({ reason: "unavailable", operation: "GET tag", why: verbatimReason("no tag") }))
      : Effect.succeed(new Set(["ada"]))
  }
  const requester = { sender: { type, id: "ada" }, conversation: { kind: "direct", id: "ada" } } as const
  const found = await findMemberships(snapshot(ttl), "corp", requester, 0, (listing) => listing).pipe(
    Effect.provideService(Directories, { listScope, listChat: () => Effect.succeed([]), forget: () => undefined }),
    Effect.runPromise
  )
  return { ages, found: [...found] }
}

it("a person is in the scopes that list them, and not in those that cannot be read", async () => {
  expect((await find("wecom_userid")).found).toEqual([JSON.stringify(scopes[0])])
})

it("a person of another corporation is in no scope, although the id is the same", async () => {
  expect((await find("wecom_encrypted_userid")).found).toEqual([])
})

it.each([
  [43_200, 900_000],
  [60, 60_000],
  [0, 0]
])("listings for rights with directory_cache_ttl_seconds %i are at most %i ms old", async (ttl, maxAge) => {
  expect((await find("wecom_userid", ttl)).ages).toEqual([maxAge, maxAge])
})
