/** Defines the endpoints of the queue: what waits and runs, and the operations of an administrator. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EntryStatus } from "../../domain/Entry.ts"
import { Reason } from "../../domain/Reason.ts"
import { describe } from "./Describe.ts"
import { count, text } from "./Fields.ts"
import { bodyText, byId, page, paging, allowSeveral, searched, sorting, time, workspace } from "./Parameters.ts"
import { StateConflict, NotFound } from "./Problems.ts"
import { Batch, Entry, Pause } from "./QueueRecords.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"

const QueuePage = Schema.Struct({
  ...page(Entry),
  by_status: Schema.Record(EntryStatus, Schema.Int).annotate({ description: "Number of entries by status" }),
  oldest_waiting_at: Schema.NullOr(Schema.String).annotate({ description: "Admission of the oldest waiting entry" }),
  pauses: Schema.Array(Pause),
  held_batches: Schema.Array(Batch).annotate({
    description: "Batches that are not queued, because the previous one of their branch is; on the first page only"
  })
}).annotate({ identifier: "QueuePage" })

const reason = Schema.optionalKey(bodyText("Reason, shown to other operators"))
const nodeName = bodyText("Name of the node (SVC_NODE_NAME)")

const Scope = Schema.Struct({
  workspace: Schema.optionalKey(bodyText("Id of the workspace")),
  node: Schema.optionalKey(nodeName),
  reason
})
  .check(
    Schema.makeFilter(({ node, workspace: id }) =>
      (node === undefined) === (id === undefined) ? "expected either workspace or node" : undefined
    )
  )
  .annotate({ identifier: "PauseScope", description: "A workspace or a node" })

const paused = <const A extends string>(statuses: ReadonlyArray<A>) => ({
  scope: Schema.Literals(["workspace", "node"]),
  name: text("Workspace or node"),
  status: Schema.Literals(statuses)
})

export const changed = <const A extends string>(statuses: ReadonlyArray<A>) =>
  Schema.Struct({ id: text("Id of the record"), status: Schema.Literals(statuses) }).pipe(HttpApiSchema.status(202))

const QueueItem = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("entry"), ...Entry.fields }),
  Schema.Struct({ kind: Schema.Literal("batch"), ...Batch.fields, members: count("Number of pushes") })
]).annotate({ identifier: "QueueItem" })

/** Maximum number of entries of one request. */
export const maxBulk = 200

export const Bulk = Schema.Struct({
  action: Schema.Literals(["cancel", "retry"]).annotate({ description: "What is done to each entry" }),
  ids: Schema.optionalKey(
    Schema.Array(bodyText("Id of an entry or a batch"))
      .check(Schema.isMinLength(1), Schema.isMaxLength(maxBulk))
      .annotate({ description: `1 to ${maxBulk} ids; absent: the entries that workspace and status select` })
  ),
  workspace: Schema.optionalKey(bodyText("Id of a workspace")),
  cause: Schema.optionalKey(bodyText("Name of a cause, as `/queue/causes` returns it: only entries that it stops")),
  status: Schema.optionalKey(Schema.Union([EntryStatus, Schema.Literal("current")])).annotateKey({
    description: "Status, or `current`: waiting, ready and running; default: dead for retry, waiting for cancel"
  }),
  reason,
  preview: Schema.Boolean.annotate({ description: "True: lists what would be changed, and changes nothing" })
})
  .check(
    Schema.makeFilter(({ cause, ids, status, workspace: id }) =>
      ids === undefined || (id === undefined && status === undefined && cause === undefined)
        ? undefined
        : "expected either ids, or workspace, status and cause"
    )
  )
  .annotate({ identifier: "Bulk", description: "Entries, and what is done to them" })

const BulkResult = Schema.Struct({
  preview: Schema.Boolean,
  matched: count("Number of selected entries"),
  more: Schema.Boolean.annotate({ description: `True if more than ${maxBulk} are selected: repeat the request` }),
  items: Schema.Array(
    Schema.Struct({
      id: text("Id of the entry or the batch"),
      result: text(
        "Status of the entry in a preview; otherwise `cancelled`, `stopping`, `retried`, or the reason why not"
      )
    })
  )
}).annotate({ identifier: "BulkResult" })

const QueueCause = Schema.Struct({
  status: EntryStatus.annotate({ description: "`waiting` or `dead`" }),
  cause: text("Name of the cause: the tag of the reason, with the words of one that is not the service's own"),
  why: Reason.annotate({ description: "The cause, with the values of one of the entries" }),
  count: count("Number of entries"),
  workspaces: count("Number of their workspaces"),
  oldest_at: text("Admission of the oldest one, in ISO 8601")
}).annotate({ identifier: "QueueCause", description: "Entries that wait or failed for the same cause" })

export class QueueGroup extends HttpApiGroup.make("queue")
  .add(
    HttpApiEndpoint.get("list", "/queue", {
      query: {
        workspace,
        q: searched,
        since: Schema.optionalKey(time("Earliest time of admission, in ISO 8601")),
        until: Schema.optionalKey(time("Time before which it was admitted, in ISO 8601")),
        status: Schema.optionalKey(
          allowSeveral(EntryStatus, "Statuses, separated by commas, or all; default waiting, ready and running")
        ),
        sort: sorting(["admitted"], "admitted"),
        ...paging
      },
      success: QueuePage
    }).annotateMerge(
      describe(
        "List the queue",
        "Lists entries, oldest first unless `sort` is `-admitted`, with the reason of each wait."
      )
    ),
    HttpApiEndpoint.get("causes", "/queue/causes", {
      query: { workspace },
      success: Schema.Struct({
        items: Schema.Array(QueueCause),
        more: Schema.Boolean.annotate({ description: "True if only the 10,000 oldest entries are counted" })
      })
    }).annotateMerge(
      describe(
        "Count causes",
        "Counts waiting entries and those that failed for good by the cause of their wait or failure, the most frequent first. `/queue/bulk` with `cause` changes those of one."
      )
    ),
    HttpApiEndpoint.post("pause", "/queue/pause", {
      payload: Scope,
      success: Schema.Struct(paused(["paused"])),
      error: NotFound
    }).annotateMerge(
      describe("Pause a workspace or a node", "It starts no reviews until it is resumed. Running reviews finish.")
    ),
    HttpApiEndpoint.post("resume", "/queue/resume", {
      payload: Scope,
      success: Schema.Struct(paused(["resumed"]))
    }).annotateMerge(describe("Resume a workspace or a node", "Waiting entries continue in order.")),
    HttpApiEndpoint.post("drain", "/queue/drain", {
      payload: Schema.Struct({ node: nodeName, reason }).annotate({ identifier: "Drain" }),
      success: Schema.Struct({ ...paused(["drained", "draining"]), running: count("Reviews that it still runs") }),
      error: NotFound
    }).annotateMerge(
      describe(
        "Drain a node",
        "Pauses a node and counts the reviews that it still runs. Repeat it until there are none."
      )
    ),
    HttpApiEndpoint.post("bulk", "/queue/bulk", { payload: Bulk, success: BulkResult }).annotateMerge(
      describe(
        "Cancel or retry entries",
        `Changes at most ${maxBulk} entries: those with these ids, or the oldest of a workspace and a status.`
      )
    ),
    HttpApiEndpoint.get("get", "/queue/:id", {
      params: byId,
      success: QueueItem,
      error: NotFound
    }).annotateMerge(describe("Get an entry or a batch", "Returns a queue entry, or a batch that is not queued yet.")),
    HttpApiEndpoint.post("retry", "/queue/:id/retry", {
      params: byId,
      success: changed(["retried"]),
      error: [NotFound, StateConflict]
    }).annotateMerge(describe("Retry a dead entry", "It waits again with its full number of attempts.")),
    HttpApiEndpoint.post("cancel", "/queue/:id/cancel", {
      params: byId,
      payload: Schema.Struct({ reason: Schema.optionalKey(bodyText("Reason, kept on record")) }).annotate({
        identifier: "Cancellation"
      }),
      success: changed(["cancelled", "stopping"]),
      error: [NotFound, StateConflict]
    }).annotateMerge(describe("Cancel an entry", "A running one is ended by its worker (`stopping`)."))
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Queue", description: "What waits and runs" })) {}
