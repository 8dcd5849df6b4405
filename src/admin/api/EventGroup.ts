/** Defines the endpoints of deliveries and of what followed them. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EventDecision, EventOutcome } from "../../domain/Decision.ts"
import { StatusState } from "../../domain/Publication.ts"
import { describe } from "./Describe.ts"
import { DecisionCount, Event, EventDetails, Payload, RejectedSignatures, Replay } from "./EventRecords.ts"
import { maybe, maybeCount, text as field } from "./Fields.ts"
import { byId, number, allowOne, page, paging, searched, sorting, text, time, workspace } from "./Parameters.ts"
import { NotFound, StateConflict } from "./Problems.ts"
import { Entry } from "./QueueRecords.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"
import { ChangeFinding, conclusion, Publication, runBasis, runWithEvents } from "./RunRecords.ts"
import { Reason } from "../../domain/Reason.ts"

const CommitStatus = Schema.Struct({
  head: field("Commit"),
  state: StatusState.annotate({
    description: "Worst of the last reviews of all pull requests and branches with this head"
  }),
  description: Reason.annotate({ description: "Description of its verdict" }),
  number: maybeCount("Number of its pull request"),
  branch: maybe("Branch that it compared the head with"),
  run_id: field("Id of the review")
}).annotate({ identifier: "CommitStatus", description: "The commit status of a head, and the review that holds it" })

const storyParts = {
  partial: Schema.Boolean.annotate({ description: "True if only the latest deliveries and runs are listed" }),
  deliveries: Schema.Array(Event),
  entries: Schema.Array(Entry),
  runs: Schema.Array(
    Schema.Struct({
      ...runWithEvents,
      ...runBasis,
      entry_id: field("Id of its queue entry"),
      notices: Schema.optionalKey(Schema.Array(Reason)).annotate({
        description: "What its summary says about parts that were not read"
      }),
      conclusion,
      publications: Schema.Array(Publication)
    })
  ),
  findings: Schema.Array(ChangeFinding).annotate({
    description: "Findings of pull requests over all heads with their states, those that were found last first"
  }),
  status: Schema.optionalKey(CommitStatus).annotateKey({
    description: "Status of the head of the newest review, if it sets one"
  })
}

export const Story = Schema.Struct({ repo: Schema.String, number: Schema.Int, ...storyParts }).annotate({
  identifier: "Story",
  description: "What happened to a pull request or issue, oldest first"
})

const EventStory = Schema.Struct(storyParts).annotate({
  identifier: "EventStory",
  description: "What followed a delivery, oldest first"
})
export type EventStoryRecord = typeof EventStory.Type

const repo = text("Full name of the repository, OWNER/NAME")

export class EventGroup extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", "/events", {
      query: {
        workspace,
        q: searched,
        decision: Schema.optionalKey(allowOne(EventDecision, "Decision")),
        reason: Schema.optionalKey(text("Reason of the decision, such as draft")),
        target: Schema.optionalKey(text("Key of a pull request, branch or issue (`target_key`)")),
        outcome: Schema.optionalKey(allowOne(EventOutcome, "Outcome")),
        trigger: Schema.optionalKey(text("Name of the trigger")),
        provider: Schema.optionalKey(text("Kind of the host or of the call")),
        repo: Schema.optionalKey(repo),
        number: Schema.optionalKey(number),
        since: Schema.optionalKey(time("Earliest time of receipt, in ISO 8601")),
        until: Schema.optionalKey(time("Time before which it was received, in ISO 8601")),
        sort: sorting(["received"], "-received"),
        ...paging
      },
      success: Schema.Struct(page(Event))
    }).annotateMerge(
      describe(
        "List deliveries",
        "Lists verified deliveries with their decisions, newest first unless `sort` is `received`."
      )
    ),
    HttpApiEndpoint.get("reasons", "/events/reasons", {
      query: {
        workspace,
        trigger: Schema.optionalKey(text("Name of the trigger")),
        since: Schema.optionalKey(time("Earliest time of receipt, in ISO 8601; default: a week ago"))
      },
      success: Schema.Struct({ items: Schema.Array(DecisionCount) })
    }).annotateMerge(
      describe(
        "Count deliveries by decision",
        "Returns the number of deliveries for each decision and reason, the most frequent first."
      )
    ),
    HttpApiEndpoint.get("get", "/events/:id", {
      params: byId,
      success: EventDetails,
      error: NotFound
    }).annotateMerge(describe("Get a delivery", "Returns a delivery with the work that it started.")),
    HttpApiEndpoint.get("payload", "/events/:id/payload", {
      params: byId,
      success: Payload,
      error: NotFound
    }).annotateMerge(
      describe(
        "Get the body of a delivery",
        "Returns headers and body as received, with `[redacted]` in place of credentials. `storage.retention.payloads` limits which are kept."
      )
    ),
    HttpApiEndpoint.post("replay", "/events/:id/replay", {
      params: byId,
      success: Replay.pipe(HttpApiSchema.status(202)),
      error: [NotFound, StateConflict]
    }).annotateMerge(
      describe(
        "Replay a delivery",
        "Decides about its body again, with the current configuration, as a new delivery. The original record does not change."
      )
    ),
    HttpApiEndpoint.get("eventStory", "/events/:id/story", {
      params: byId,
      success: EventStory,
      error: NotFound
    }).annotateMerge(
      describe(
        "Get the story of a delivery",
        "Returns the delivery, the events of the changes that it reported, and the queue entries, runs and publications that followed. For pushes, schedules, calls, revisions and requests from chat, which may concern no pull request."
      )
    ),
    HttpApiEndpoint.get("story", "/story", {
      query: { repo, number },
      success: Story
    }).annotateMerge(
      describe("Get the story of a pull request", "Returns its deliveries, queue entries, runs and publications.")
    ),
    HttpApiEndpoint.get("rejectedSignatures", "/rejected-signatures", {
      query: { since: Schema.optionalKey(time("Earliest hour, in ISO 8601; default: a week ago")) },
      success: Schema.Struct({ items: Schema.Array(RejectedSignatures) })
    }).annotateMerge(
      describe(
        "Count rejected signatures",
        "Counts deliveries with a wrong signature to all nodes, per trigger and hour, newest first: at most 1000 items. Nodes store them every five seconds."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Deliveries", description: "Deliveries and what followed them" })) {}
