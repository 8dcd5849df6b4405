/** Defines the endpoint of the set-up of triggers. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CatchUpOccasion } from "../../domain/CatchUpOccasion.ts"
import { TriggerKind } from "../../domain/Kinds.ts"
import { describe } from "./Describe.ts"
import { count, maybe, maybeReason, maybeTime, reason, text, time } from "./Fields.ts"
import { bodyText } from "./Parameters.ts"
import { NotFound, StateConflict, TooManyRequestsResponse } from "./Problems.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"
import { Reason } from "../../domain/Reason.ts"
import { HookState } from "../../store/Inventories.ts"

const credential = (description: string) =>
  Schema.Literals(["set", "missing", "not_used"]).annotate({
    description: `${description}; not_used: its kind has none`
  })

const maybeOccasion = (description: string) => Schema.optionalKey(CatchUpOccasion.annotate({ description }))

const CatchUpState = Schema.Struct({
  last_at: maybeTime("Time of the last search for changes that no delivery reported"),
  requested_at: maybeTime("Time of a request for a search that has not begun"),
  occasion: maybeOccasion("Why it was made"),
  found: count("Number of changes that the last search with a result found"),
  found_at: maybeTime("Time of that search"),
  found_since: maybeTime("Time of the search before it: in between, deliveries were lost"),
  found_for: maybeOccasion("Why the search with a result was made"),
  skipped: count("Number of changes that the last search found and catch_up.max_age_hours or max_changes excludes"),
  failure: maybeReason("Why the last search was incomplete; the next one begins where it stopped")
}).annotate({
  identifier: "CatchUp",
  description: "Searches for changes that no delivery reported; absent if its server is not searched"
})

const InventoryState = Schema.Struct({
  last_at: maybeTime("Time of the last check of its webhooks"),
  requested_at: maybeTime("Time of a request for a check that has not begun"),
  repositories: count("Number of repositories that workspaces review"),
  served: count("Number of those that the webhook of an organisation, of the site or of an app serves"),
  complete: count("Number of complete webhooks"),
  missing: count("Number of missing webhooks"),
  broken: count("Number of webhooks with problems"),
  unreadable: count("Number of webhooks that the credential may not list"),
  created: count("Number of webhooks that the service created"),
  repaired: count("Number of webhooks that the service repaired"),
  failure: maybeReason("Why the last check was incomplete")
}).annotate({
  identifier: "Inventory",
  description: "Repositories and their webhooks; absent without a credential, or with inventory.hooks off"
})

const hookFields = {
  scope: text("Key of the repository, owner, site or app"),
  name: text("Name of the repository or owner; empty for the site or app"),
  state: HookState,
  problem: maybeReason("What is wrong, and the next step")
}

const InventoryProblem = Schema.Struct({ ...hookFields, checked_at: time("Time of the check") }).annotate({
  identifier: "InventoryProblem",
  description: "A webhook that is not complete"
})

const PlannedHook = Schema.Struct({
  ...hookFields,
  action: Schema.optionalKey(
    Schema.Literals(["create", "repair"]).annotate({ description: "What is to be done, or was done" })
  )
}).annotate({ identifier: "PlannedHook", description: "A webhook, with what is to be done to it" })

const HookByHand = Schema.Struct({
  place: text("Page of the host for the webhook of a repository"),
  owner_place: text("Page of the host for one webhook of all repositories"),
  url: text("URL of the webhook"),
  content_type: text("Content type"),
  events: Schema.Array(Schema.String).annotate({ description: "Events, by their names on the page" }),
  rights: reason("Rights with which the service does it by itself")
}).annotate({ identifier: "HookByHand", description: "Values for a person who sets up a webhook" })

const SetUpHooks = Schema.Struct({ items: Schema.Array(PlannedHook), by_hand: HookByHand })

export type SetUpRecord = typeof SetUpHooks.Type

const TriggerHealth = Schema.Struct({
  name: text("Name of the trigger"),
  kind: TriggerKind,
  enabled: Schema.Boolean,
  path: maybe("Path at this service to which the host, a hook or a caller sends deliveries"),
  base_url: maybe("Address of the host"),
  workspaces: count("Number of workspaces that name it"),
  secret: credential("Secret that deliveries are verified with, or API key of callers"),
  token: credential("Token, app or password with which the service reads and writes at the host"),
  last_delivery_at: maybeTime("Time of its newest delivery of the last week"),
  last_accepted_at: maybeTime("Time of the newest of them that started work"),
  deliveries_24h: count("Number of deliveries in the last 24 hours"),
  ignored_24h: count("Number of them that started no work"),
  rejected_signatures_24h: count("Number of deliveries with a wrong signature in the last 24 hours"),
  waiting_publications: count("Number of publications that wait because the host refuses its credential"),
  catch_up: Schema.optionalKey(CatchUpState),
  inventory: Schema.optionalKey(InventoryState)
}).annotate({ identifier: "TriggerHealth", description: "Set-up and recent deliveries of a trigger" })

export type TriggerRecord = typeof TriggerHealth.Type

export const TriggerCheck = Schema.Struct({
  check: Schema.Literals(["setup", "host", "address"]).annotate({
    description:
      "setup: what the configuration has; host: what the host permits, and its webhooks; address: the service at server.base_url"
  }),
  ok: Schema.Boolean.annotate({
    description: "False: deliveries or reviews of the trigger do not work, or not completely"
  }),
  level: Schema.Literals(["ok", "warning", "error"]),
  reason: Reason.annotate({ description: "What was found, and the next step" })
}).annotate({ identifier: "TriggerCheck" })

/** Response to a request that the service executes within seconds. */
const Requested = Schema.Struct({ name: text("Name of the trigger"), requested_at: time("Time of the request") })

export class TriggerGroup extends HttpApiGroup.make("triggers")
  .add(
    HttpApiEndpoint.get("list", "/triggers", {
      success: Schema.Struct({ items: Schema.Array(TriggerHealth) })
    }).annotateMerge(
      describe("List triggers", "Lists the triggers of the configuration with their set-up and recent deliveries.")
    ),
    HttpApiEndpoint.post("check", "/triggers/:name/check", {
      params: { name: bodyText("Name of a trigger") },
      success: Schema.Struct({ items: Schema.Array(TriggerCheck) }),
      error: [NotFound, TooManyRequestsResponse]
    }).annotateMerge(
      describe(
        "Check a trigger",
        "Checks what `aicr doctor` checks of one trigger: its set-up, the permissions of its credential, the webhooks of its " +
          "repositories, and whether the service responds at its public address. Reads only. Once per trigger and 10 seconds."
      )
    ),
    HttpApiEndpoint.post("catchUp", "/triggers/:name/catch-up", {
      params: { name: bodyText("Name of a trigger") },
      success: Requested,
      error: [NotFound, StateConflict]
    }).annotateMerge(
      describe(
        "Search for lost deliveries",
        "Requests a search for changes that no delivery reported, which begins within seconds. A request that waits already stays as it is."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("inventory", "/triggers/:name/inventory", {
      params: { name: bodyText("Name of a trigger") },
      success: Schema.Struct({ items: Schema.Array(InventoryProblem), by_hand: HookByHand }),
      error: [NotFound, StateConflict]
    }).annotateMerge(
      describe(
        "List incomplete webhooks",
        "Lists the first 500 webhooks of a trigger that are missing, broken or hidden, as of the last check, with what a person has to enter."
      )
    ),
    HttpApiEndpoint.post("checkInventory", "/triggers/:name/inventory", {
      params: { name: bodyText("Name of a trigger") },
      success: Requested,
      error: [NotFound, StateConflict]
    }).annotateMerge(
      describe(
        "Check webhooks",
        "Requests a check of all webhooks of a trigger, which begins within seconds. A request that waits already stays as it is."
      )
    ),
    HttpApiEndpoint.post("setUp", "/triggers/:name/setup", {
      params: { name: bodyText("Name of a trigger") },
      payload: Schema.Struct({
        target: bodyText("Full name of a repository, or name of an organisation, a group or a person"),
        apply: Schema.Boolean.annotate({ description: "False: only say what is to be done" })
      }),
      success: SetUpHooks,
      error: [NotFound, StateConflict]
    }).annotateMerge(
      describe(
        "Set up webhooks",
        "Says what is to be done so that the webhooks of a repository, or of the repositories of an owner, are complete, or does it: missing ones " +
          "are created, broken ones of the service are repaired, and those of others stay."
      )
    )
  )
  .middleware(Audited)
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Triggers", description: "Set-up of triggers" })) {}
