/** Defines the endpoint of the set-up of triggers. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { TriggerKind } from "../../domain/Kinds.ts"
import { describe } from "./Describe.ts"
import { count, maybe, maybeReason, maybeTime, text, time } from "./Fields.ts"
import { bodyText } from "./Parameters.ts"
import { NotFound, StateConflict, TooManyRequestsResponse } from "./Problems.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"
import { Reason } from "../../domain/Reason.ts"

const credential = (description: string) =>
  Schema.Literals(["set", "missing", "not_used"]).annotate({
    description: `${description}; not_used: its kind has none`
  })

const CatchUpState = Schema.Struct({
  last_at: maybeTime("Time of the last search for changes that no delivery reported"),
  requested_at: maybeTime("Time of a request for a search that has not begun"),
  found: count("Number of changes that the last search with a result found"),
  found_at: maybeTime("Time of that search"),
  found_since: maybeTime("Time of the search before it: in between, deliveries were lost"),
  skipped: count("Number of changes that the last search found and catch_up.max_age_hours or max_changes excludes"),
  failure: maybeReason("Why the last search was incomplete; the next one begins where it stopped")
}).annotate({
  identifier: "CatchUp",
  description: "Searches for changes that no delivery reported; absent if its server is not searched"
})

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
  catch_up: Schema.optionalKey(CatchUpState)
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
      success: Schema.Struct({ name: text("Name of the trigger"), requested_at: time("Time of the request") }),
      error: [NotFound, StateConflict]
    }).annotateMerge(
      describe(
        "Search for lost deliveries",
        "Requests a search for changes that no delivery reported, which begins within seconds. A request that waits already stays as it is."
      )
    )
  )
  .middleware(Audited)
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Triggers", description: "Set-up of triggers" })) {}
