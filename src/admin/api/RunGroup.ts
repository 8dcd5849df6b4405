/** Defines the endpoints of runs. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { RunStatus } from "../../domain/Run.ts"
import { runValues } from "../../store/Runs.ts"
import { describe } from "./Describe.ts"
import { text as field } from "./Fields.ts"
import { LiveEvent } from "./LiveRecords.ts"
import { byId, allowSeveral, number, page, paging, searched, sorting, text, time, workspace } from "./Parameters.ts"
import { StateConflict, NotFound, TooManyRequestsResponse } from "./Problems.ts"
import { changed } from "./QueueGroup.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"
import { CallTexts, RecordedCall } from "./CallRecords.ts"
import { ListedRun, LogLine, RunComparison, RunDetails } from "./RunRecords.ts"

export class RunGroup extends HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.get("list", "/runs", {
      query: {
        workspace,
        q: searched,
        status: Schema.optionalKey(allowSeveral(RunStatus, "Statuses, separated by commas, or all")),
        target: Schema.optionalKey(text("Key of a pull request, branch or issue (`target_key`)")),
        repo: Schema.optionalKey(text("Full name of the repository, OWNER/NAME")),
        number: Schema.optionalKey(number),
        trigger: Schema.optionalKey(text("Name of the trigger")),
        since: Schema.optionalKey(time("Earliest time of creation, in ISO 8601")),
        until: Schema.optionalKey(time("Time before which it was created, in ISO 8601")),
        sort: sorting(["created", ...runValues], "-created"),
        ...paging
      },
      success: Schema.Struct(page(ListedRun))
    }).annotateMerge(
      describe(
        "List runs",
        "Lists reviews, newest first unless `sort` names another order. `duration` and `cost` can be combined with `workspace` only; a run that has none yet counts as the smallest."
      )
    ),
    HttpApiEndpoint.get("live", "/runs/live", {
      success: HttpApiSchema.StreamSse({ data: LiveEvent }),
      error: TooManyRequestsResponse
    }).annotateMerge(
      describe(
        "Follow running reviews",
        "Sends events of all nodes as server-sent events for at most 15 minutes. Events may be lost; the records of runs are complete."
      )
    ),
    HttpApiEndpoint.get("get", "/runs/:id", {
      params: byId,
      success: RunDetails,
      error: NotFound
    }).annotateMerge(describe("Get a run", "Returns a review with findings, coverage, cost and publications.")),
    HttpApiEndpoint.get("compare", "/runs/:id/compare", {
      params: byId,
      query: { with: Schema.optionalKey(text("Id of the other run; default: the previous one of the same change")) },
      success: RunComparison,
      error: NotFound
    }).annotateMerge(
      describe(
        "Compare two runs",
        "Returns the problems that a run has in addition to another one, and those it lacks."
      )
    ),
    HttpApiEndpoint.get("log", "/runs/:id/log", {
      params: byId,
      success: Schema.Struct({
        run_id: field("Id of the run"),
        lines: Schema.Array(LogLine),
        cut: Schema.Boolean.annotate({ description: "True if the log was full before the run ended" })
      }),
      error: NotFound
    }).annotateMerge(
      describe(
        "Get the log of a run",
        "Returns what all nodes logged about a run at the level info and above, without credentials, at most 256 KiB. Lines are stored once per second."
      )
    ),
    HttpApiEndpoint.get("calls", "/runs/:id/calls", {
      params: byId,
      query: paging,
      success: Schema.Struct(page(RecordedCall)),
      error: NotFound
    }).annotateMerge(
      describe(
        "List the model calls of a run",
        "Lists the recorded requests to models, oldest first, while `storage.retention` keeps them."
      )
    ),
    HttpApiEndpoint.get("call", "/runs/:id/calls/:call", {
      params: { ...byId, call: byId.id },
      success: CallTexts,
      error: NotFound
    }).annotateMerge(
      describe(
        "Get a model call",
        "Returns the texts of a request and of its response as they are stored: without credentials of known forms."
      )
    ),
    HttpApiEndpoint.get("findingDiff", "/runs/:id/findings/:fingerprint/diff", {
      params: { ...byId, fingerprint: byId.id },
      success: Schema.Struct({
        diff: field("Lines of the reviewed diff around a finding, at most 12,000 characters; empty if it is not stored")
      }),
      error: NotFound
    }).annotateMerge(describe("Get the diff around a finding", "Returns the lines around a finding of a run.")),
    HttpApiEndpoint.post("link", "/runs/:id/link", {
      params: byId,
      success: Schema.Struct({
        url: field("Address of the shared review. It needs no login"),
        expires_at: field("End of its validity, in ISO 8601")
      }).pipe(HttpApiSchema.status(201)),
      error: [NotFound, StateConflict]
    }).annotateMerge(
      describe(
        "Share a review",
        "Returns a signed link to the texts of the comments of a review and its coverage, without prompts and findings that only maintainers get. Everybody with the link can read them until it expires."
      )
    ),
    HttpApiEndpoint.post("cancel", "/runs/:id/cancel", {
      params: byId,
      success: changed(["cancelled", "stopping"]),
      error: [NotFound, StateConflict]
    }).annotateMerge(describe("Cancel a run", "A running one is ended by its worker (`stopping`).")),
    HttpApiEndpoint.post("rereview", "/runs/:id/rereview", {
      params: byId,
      success: Schema.Struct({
        id: field("Id of the run"),
        event_id: field("Id of the delivery that records the request"),
        status: field("Decision about it, such as queued or coalesced")
      }).pipe(HttpApiSchema.status(202)),
      error: [NotFound, StateConflict]
    }).annotateMerge(
      describe(
        "Review again",
        "Reviews the change of a run again: a pull request or an issue in the state that the host has now, another change at the same commits. A push whose request waits is a `duplicate`."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Runs", description: "Reviews" })) {}
