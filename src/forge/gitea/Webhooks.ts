/** Webhooks of repositories, organisations and the site at Gitea and Forgejo, whose APIs have no log of deliveries. */
import { Effect, Redacted, Schema } from "effect"
import type { ForgeKind } from "../../domain/Kinds.ts"
import type { HookContent, HookScope, HostHook, HostHooks } from "../hosts/HostHooks.ts"
import { maxOwnedRepositories } from "../hosts/HostHooks.ts"
import { listByOwner, readOwned } from "../hosts/OwnedRepositories.ts"
import { reader } from "../hosts/ReadChanges.ts"
import type { Call, Rest } from "../http/Http.ts"
import { ownerAndName } from "../http/Profile.ts"
import { pages } from "./Facts.ts"
import { ListedRepository, OwnerId } from "./Responses.ts"

const Text = Schema.optional(Schema.NullOr(Schema.String))

const Hook = Schema.Struct({
  id: Schema.Int,
  active: Schema.optional(Schema.Boolean),
  events: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  config: Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.String))),
  branch_filter: Text,
  authorization_header: Text
})

const Written = Schema.Struct({ id: Schema.Int })

const toHook = ({ active, authorization_header, branch_filter, config, events, id }: typeof Hook.Type): HostHook => ({
  id: String(id),
  url: config?.["url"] ?? "",
  isActive: active !== false,
  events: events ?? [],
  contentType: config?.["content_type"],
  // An update without them resets them.
  kept: {
    ...(branch_filter ? { branch_filter } : {}),
    ...(authorization_header ? { authorization_header } : {})
  }
})

const pathOf = (scope: HookScope): Pick<Call, "path" | "params"> => {
  if (scope._tag === "Host") return { path: "/admin/hooks" }
  return scope._tag === "Owner"
    ? { path: "/orgs/{org}/hooks", params: { org: scope.name } }
    : { path: "/repos/{owner}/{repo}/hooks", params: ownerAndName(scope) }
}

const toBody = ({ events, secret, url }: HookContent) => ({
  active: true,
  events,
  config: { url, content_type: "json", ...(secret === undefined ? {} : { secret: Redacted.value(secret) }) }
})

const toOwned = reader(ListedRepository, ({ archived, full_name: fullName, id }) => readOwned(fullName, id, archived))

export const giteaHooks = (rest: Rest, kind: Extract<ForgeKind, "forgejo" | "gitea">): HostHooks => {
  const ofOwner = listByOwner<{ readonly id: number; readonly call: Call }>(
    (org) =>
      Effect.map(rest.get({ path: "/orgs/{org}", params: { org } }, OwnerId), ({ id }) => ({
        id,
        call: { path: "/orgs/{org}/repos", params: { org } }
      })),
    (username) =>
      Effect.map(rest.get({ path: "/users/{username}", params: { username } }, OwnerId), ({ id }) => ({
        id,
        call: { path: "/users/{username}/repos", params: { username } }
      }))
  )
  return {
    isApp: false,
    wider: (name) => [{ _tag: "Host" }, { _tag: "Owner", name }],
    list: (scope) => Effect.map(rest.pages(pathOf(scope), Hook, pages), (hooks) => hooks.map(toHook)),
    deliveries: () => Effect.succeed([]),
    create: (scope, content) =>
      Effect.map(
        rest.write(
          { ...pathOf(scope), method: "POST", body: { type: kind, ...toBody(content) }, content: false },
          Written
        ),
        ({ id }) => String(id)
      ),
    update: (scope, { id, kept }, content) => {
      const { params, path } = pathOf(scope)
      const call = { path: `${path}/{id}`, params: { ...params, id }, method: "PATCH" } as const
      return Effect.asVoid(
        rest.write({ ...call, body: { ...kept, ...toBody(content) }, content: false }, Schema.Unknown)
      )
    },
    repositories: ({ name }) =>
      Effect.flatMap(ofOwner(name), ({ call }) =>
        Effect.map(rest.list(call, toOwned, { ...pages, max: maxOwnedRepositories }), ({ items }) => items)
      ),
    newest: ({ name }) =>
      Effect.flatMap(ofOwner(name), ({ id }) =>
        Effect.map(
          rest.get(
            {
              path: "/repos/search",
              query: { uid: id, exclusive: "true", sort: "id", order: "desc", limit: pages.value },
              isPolled: true
            },
            Schema.Struct({ data: Schema.Array(OwnerId) })
          ),
          ({ data }) => data.map((repository) => repository.id).join(" ")
        )
      )
  }
}
