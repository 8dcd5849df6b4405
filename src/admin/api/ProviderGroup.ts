/** Defines the endpoints of model providers: the states of their limiters, and the end of a pause. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { PauseCause } from "../../llm/ProviderStates.ts"
import { describe } from "./Describe.ts"
import { count, text, time } from "./Fields.ts"
import { NotFound } from "./Problems.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"

const State = Schema.Struct({
  concurrency: count("Number of calls that may be executed at the same time, as the provider has been seen to take"),
  in_use: count("Calls that are executed"),
  waiting: count("Calls that wait"),
  paused_until: Schema.optionalKey(time("Time before which no call starts")),
  pause_cause: Schema.optionalKey(PauseCause).annotateKey({
    description:
      "requested: a refusal named the time; refusals: refusals without a time followed each other; exhausted: a response reported an exhausted rate limit"
  }),
  counted_since: time("Time from which calls are counted, of which the last hour is shown"),
  responses: count("Calls with a response"),
  errors: Schema.Array(
    Schema.Struct({ reason: text("Class of the failure"), count: count("Number of calls") })
  ).annotate({ description: "Failed calls, the most frequent first" }),
  tokens_per_minute: count("Input and output tokens of a minute, on the average of the last five")
}).annotate({ identifier: "ProviderState", description: "What the limiter of a provider knows, for all nodes" })

const Provider = Schema.Struct({
  id: text("Id of the provider (`llm.providers[].id`)"),
  kind: text("Kind of the provider"),
  rate_limit_rps: Schema.NullOr(Schema.Finite).annotate({
    description: "Calls that may start in a second (`queue.rate_limit.per_provider_rps`); null: no limit is configured"
  }),
  cost_today_usd: Schema.NullOr(Schema.Finite).annotate({
    description:
      "Cost of its calls in the runs that ended today (UTC), in US dollars; null if it is known of none that called it"
  }),
  state: Schema.NullOr(State).annotate({ description: "Null: its limiter does not reply" })
}).annotate({ identifier: "Provider", description: "A model provider of the configuration" })
export type ProviderRecord = typeof Provider.Type

export class ProviderGroup extends HttpApiGroup.make("providers")
  .add(
    HttpApiEndpoint.get("list", "/providers", {
      success: Schema.Struct({ items: Schema.Array(Provider) })
    }).annotateMerge(
      describe(
        "List providers",
        "Lists the model providers of the configuration with what their limiters know: concurrency, waiting calls, pauses, and calls of the last hour."
      )
    ),
    HttpApiEndpoint.post("resume", "/providers/:id/resume", {
      params: { id: Schema.String.annotate({ description: "Id of the provider" }) },
      success: Schema.Struct({ id: text("Id of the provider"), status: Schema.Literal("resumed") }),
      error: NotFound
    }).annotateMerge(
      describe(
        "Resume a provider",
        "Ends its pause: calls that wait start at once, or within a minute where a node waits by itself. The next refusal pauses it again."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Providers", description: "Model providers" })) {}
