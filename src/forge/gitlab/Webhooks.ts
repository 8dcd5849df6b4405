/**
 * Webhooks of projects and groups at GitLab, with the log of their deliveries. Webhooks of the site have no comments, so they serve no
 * project.
 */
import { Effect, Redacted, Schema } from "effect"
import { listEvents, listFeatures } from "../../domain/WebhookSetup.ts"
import type { HostOwner } from "../hosts/HostChanges.ts"
import type { HookContent, HookScope, HostHook, HostHooks } from "../hosts/HostHooks.ts"
import { loggedDeliveries, maxOwnedRepositories } from "../hosts/HostHooks.ts"
import { listByOwner, readOwned, toNewest } from "../hosts/OwnedRepositories.ts"
import { reader } from "../hosts/ReadChanges.ts"
import type { Call, Rest } from "../http/Http.ts"
import { isRefused } from "../http/HostWords.ts"
import { pages, refusals } from "./Facts.ts"
import { projectPath } from "./Paths.ts"
import { ListedProject } from "./Responses.ts"

/** Each event is a field of a webhook. */
const events = listEvents("gitlab", listFeatures("gitlab")).map(({ id }) => id)

const Hook = Schema.StructWithRest(
  Schema.Struct({
    id: Schema.Int,
    url: Schema.String,
    /** `executable`, or disabled after failed deliveries. */
    alert_status: Schema.optional(Schema.NullOr(Schema.String))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
const Written = Schema.Struct({ id: Schema.Int })

/** The status of a response, or a text such as `internal error`. */
const Delivery = Schema.Struct({ response_status: Schema.Union([Schema.String, Schema.Int]) })

const toHook = (hook: typeof Hook.Type): HostHook => ({
  id: String(hook.id),
  url: hook.url,
  isActive: (hook.alert_status ?? "executable") === "executable",
  events: events.filter((event) => hook[event] === true),
  contentType: undefined,
  kept: {}
})

const pathOf = (scope: HookScope): Pick<Call, "path"> & { readonly params: { readonly id: string } } =>
  scope._tag === "Repository"
    ? { path: `${projectPath}/hooks`, params: { id: scope.fullName } }
    : { path: "/groups/{id}/hooks", params: { id: scope._tag === "Owner" ? scope.name : "" } }

const toBody = ({ events: wanted, secret, url }: HookContent) => ({
  url,
  ...Object.fromEntries(wanted.map((event) => [event, true])),
  ...(secret === undefined ? {} : { token: Redacted.value(secret) })
})

/** A group and those that it is in. */
const listGroups = (name: string): ReadonlyArray<string> => {
  const parts = name.split("/")
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"))
}

const toOwned = reader(ListedProject, ({ archived, id, path_with_namespace: fullName }) =>
  readOwned(fullName, id, archived)
)

export const gitlabHooks = (rest: Rest): HostHooks => {
  const newestFirst = { order_by: "id", sort: "desc", simple: "false" }
  const ofOwner = listByOwner<Call>(
    (id) =>
      Effect.as(rest.get({ path: "/groups/{id}", params: { id }, query: { with_projects: "false" } }, Schema.Unknown), {
        path: "/groups/{id}/projects",
        params: { id },
        query: { ...newestFirst, include_subgroups: "true" }
      }),
    (id) => Effect.succeed({ path: "/users/{id}/projects", params: { id }, query: newestFirst })
  )
  const list = ({ name }: HostOwner, max: number, isPolled = false) =>
    Effect.flatMap(ofOwner(name), (call) =>
      Effect.map(rest.list({ ...call, isPolled }, toOwned, { ...pages, max }), ({ items }) => items)
    )
  return {
    isApp: false,
    wider: (name) => listGroups(name).map((group): HookScope => ({ _tag: "Owner", name: group })),
    list: (scope) => Effect.map(rest.pages(pathOf(scope), Hook, pages), (hooks) => hooks.map(toHook)),
    deliveries: (scope, id) => {
      const { params, path } = pathOf(scope)
      const call = { path: `${path}/{hook_id}/events`, params: { ...params, hook_id: id } }
      return rest.get({ ...call, query: { per_page: loggedDeliveries } }, Schema.Array(Delivery)).pipe(
        Effect.catchIf(isRefused(refusals.noDeliveries), () => Effect.succeed([])),
        Effect.map((deliveries) =>
          deliveries.map(({ response_status: status }) => ({
            at: undefined,
            status: /^\d{3}$/.test(String(status)) ? Number(status) : undefined
          }))
        )
      )
    },
    create: (scope, content) =>
      Effect.map(
        rest.write({ ...pathOf(scope), method: "POST", body: toBody(content), content: false }, Written),
        ({ id }) => String(id)
      ),
    update: Effect.fnUntraced(function* (scope, hook, content) {
      const { params, path } = pathOf(scope)
      const call = { path: `${path}/{hook_id}`, params: { ...params, hook_id: hook.id } }
      yield* rest.write({ ...call, method: "PUT", body: toBody(content), content: false }, Schema.Unknown)
      if (hook.isActive) return
      // Only a successful test enables it again. The service ignores the event.
      const test = { path: `${call.path}/test/tag_push_events`, params: call.params }
      yield* rest.write({ ...test, method: "POST", content: false }, Schema.Unknown)
    }),
    repositories: (owner) => list(owner, maxOwnedRepositories),
    newest: (owner) => Effect.map(list(owner, pages.value, true), toNewest)
  }
}
