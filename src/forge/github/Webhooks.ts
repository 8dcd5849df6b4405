/** Webhooks of repositories and organisations at GitHub, with the log of their deliveries, and the webhook of an app, which has no others. */
import { Effect, Redacted, Schema } from "effect"
import type { HostOwner } from "../hosts/HostChanges.ts"
import type { HookContent, HookScope, HostHook, HostHooks, OwnedRepository } from "../hosts/HostHooks.ts"
import { loggedDeliveries, maxOwnedRepositories } from "../hosts/HostHooks.ts"
import { listByOwner, readOwned, toNewest } from "../hosts/OwnedRepositories.ts"
import { reader } from "../hosts/ReadChanges.ts"
import type { Call, Rest } from "../http/Http.ts"
import { ownerAndName, sameName } from "../http/Profile.ts"
import type { Access } from "./Access.ts"
import { pages } from "./Facts.ts"
import { ListedRepository } from "./Responses.ts"

const Config = Schema.Struct({
  url: Schema.optional(Schema.NullOr(Schema.String)),
  content_type: Schema.optional(Schema.NullOr(Schema.String)),
  insecure_ssl: Schema.optional(Schema.NullOr(Schema.Union([Schema.String, Schema.Int])))
})
const Hook = Schema.Struct({
  id: Schema.Int,
  active: Schema.Boolean,
  events: Schema.Array(Schema.String),
  config: Config
})
const Written = Schema.Struct({ id: Schema.Int })
const AppEvents = Schema.Struct({ events: Schema.optional(Schema.Array(Schema.String)) })

/** A status code of 0 means that there was no response. */
const Delivery = Schema.Struct({ delivered_at: Schema.String, status_code: Schema.Int })

const toHook = ({ active, config, events, id }: typeof Hook.Type): HostHook => ({
  id: String(id),
  url: config.url ?? "",
  isActive: active,
  events,
  contentType: config.content_type ?? undefined,
  kept: { insecure_ssl: String(config.insecure_ssl ?? "0") }
})

const toConfig = ({ secret, url }: HookContent, kept: HostHook["kept"]) => ({
  ...kept,
  url,
  content_type: "json",
  ...(secret === undefined ? {} : { secret: Redacted.value(secret) })
})

const pathOf = (scope: HookScope): Pick<Call, "path" | "params"> =>
  scope._tag === "Repository"
    ? { path: "/repos/{owner}/{repo}/hooks", params: ownerAndName(scope) }
    : { path: "/orgs/{org}/hooks", params: { org: scope._tag === "Owner" ? scope.name : "" } }

const toDeliveries = (deliveries: ReadonlyArray<typeof Delivery.Type>) =>
  deliveries.map(({ delivered_at: at, status_code: status }) => ({ at, status: status === 0 ? undefined : status }))

const toOwned = reader(ListedRepository, ({ archived, full_name: fullName, id }) => readOwned(fullName, id, archived))

/** Requests about hooks are those of the account, for whatever repository. */
const anyRepo = { fullName: "" }

/** Webhooks that an account manages with a token. */
const tokenHooks = ({ rest: restOf, self }: Pick<Access, "rest" | "self">): HostHooks => {
  const rest = restOf(anyRepo)
  const newestFirst = { sort: "created", direction: "desc" }
  const ofOwner = listByOwner<Call>(
    (org) =>
      Effect.as(rest.get({ path: "/orgs/{org}", params: { org } }, Schema.Unknown), {
        path: "/orgs/{org}/repos",
        params: { org },
        query: newestFirst
      }),
    (username) =>
      // Only the own list has private repositories.
      Effect.map(self, (account) =>
        sameName(account.username, username)
          ? { path: "/user/repos", query: { affiliation: "owner", ...newestFirst } }
          : { path: "/users/{username}/repos", params: { username }, query: newestFirst }
      )
  )
  const list = (name: string, max: number, isPolled = false) =>
    Effect.flatMap(ofOwner(name), (call) =>
      Effect.map(rest.list({ ...call, isPolled }, toOwned, { ...pages, max }), ({ items }) => items)
    )
  return {
    isApp: false,
    wider: (name) => [{ _tag: "Owner", name }],
    list: (scope) => Effect.map(rest.pages(pathOf(scope), Hook, pages), (hooks) => hooks.map(toHook)),
    deliveries: (scope, id) => {
      const { params, path } = pathOf(scope)
      const call = { path: `${path}/{hook_id}/deliveries`, params: { ...params, hook_id: id } }
      return Effect.map(
        rest.get({ ...call, query: { per_page: loggedDeliveries } }, Schema.Array(Delivery)),
        toDeliveries
      )
    },
    create: (scope, content) =>
      Effect.map(
        rest.write(
          {
            ...pathOf(scope),
            method: "POST",
            body: { name: "web", active: true, events: content.events, config: toConfig(content, {}) },
            content: false
          },
          Written
        ),
        ({ id }) => String(id)
      ),
    update: (scope, hook, content) => {
      const { params, path } = pathOf(scope)
      const body = { active: true, events: content.events, config: toConfig(content, hook.kept) }
      const call = { path: `${path}/{hook_id}`, params: { ...params, hook_id: hook.id } }
      return Effect.asVoid(rest.write({ ...call, method: "PATCH", body, content: false }, Schema.Unknown))
    },
    repositories: ({ name }) => list(name, maxOwnedRepositories),
    newest: ({ name }) => Effect.map(list(name, pages.value, true), toNewest)
  }
}

const appPath = "/app/hook"
/** Id of the only webhook of an app. */
const appHook = "app"

const Installed = Schema.Struct({ repositories: Schema.Array(Schema.Unknown) })

/** Repositories of the installation that has a repository, the first `max` of them. */
const listInstalled = Effect.fnUntraced(function* (rest: Rest, max: number, isPolled: boolean) {
  const found: Array<OwnedRepository> = []
  for (let page = 1; found.length < max; page++) {
    const query = { per_page: pages.value, page }
    const { repositories } = yield* rest.get({ path: "/installation/repositories", query, isPolled }, Installed)
    found.push(...repositories.flatMap((one) => toOwned(one) ?? []))
    if (repositories.length < pages.value) break
  }
  return found.slice(0, max)
})

/** The webhook of an app. Its events are those of the app, which only its page changes. */
const appHooks = (app: Rest, rest: Access["rest"]): HostHooks => {
  const list = ({ repositories: [fullName] }: HostOwner, max: number, isPolled = false) =>
    fullName === undefined ? Effect.succeed([]) : listInstalled(rest({ fullName }), max, isPolled)
  const write = (content: HookContent) =>
    Effect.asVoid(
      app.write(
        { path: `${appPath}/config`, method: "PATCH", body: toConfig(content, {}), content: false },
        Schema.Unknown
      )
    )
  return {
    isApp: true,
    wider: () => [{ _tag: "Host" }],
    list: () =>
      Effect.zipWith(
        app.get({ path: `${appPath}/config` }, Config),
        app.get({ path: "/app" }, AppEvents),
        ({ content_type: contentType, url }, { events = [] }) =>
          // An app without a webhook has no address.
          url ? [{ id: appHook, url, isActive: true, events, contentType: contentType ?? undefined, kept: {} }] : []
      ),
    deliveries: () =>
      Effect.map(
        app.get({ path: `${appPath}/deliveries`, query: { per_page: loggedDeliveries } }, Schema.Array(Delivery)),
        toDeliveries
      ),
    create: (_, content) => Effect.as(write(content), appHook),
    update: (_, __, content) => write(content),
    repositories: (owner) => list(owner, maxOwnedRepositories),
    newest: (owner) => Effect.map(list(owner, pages.value, true), toNewest)
  }
}

export const githubHooks = ({ app, rest, self }: Pick<Access, "app" | "rest" | "self">): HostHooks =>
  app === undefined ? tokenHooks({ rest, self }) : appHooks(app, rest)
