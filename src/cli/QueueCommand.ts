/**
 * Implements `aicr queue list|show|cancel|retry|rereview|pause|resume|drain`: displays waiting and running work with reasons and times, and changes
 * it. The administration does the work (AdminCall.ts); the function that opens it is a parameter, so that the command line depends on no
 * adapter.
 */
import { Console, Effect, Option, Schedule } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { detail, request, urlFlag } from "./AdminCall.ts"
import type { AdminClient, AdminTarget, OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { ExitWith, refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { formatBatch, formatDetails, formatEntry, formatPause } from "./QueueText.ts"

/** Number of entries per request. */
const page = 200

const shared = { config: configFlag, url: urlFlag }
const id = Argument.String("ID").pipe(
  Argument.withDescription("Id of a review in the queue, as `aicr queue list` prints it, or of a batch of pushes")
)
const reason = Flag.String("reason").pipe(
  Flag.withDescription("Reason, shown to other operators"),
  Flag.withDefault("by an operator")
)
const scope = {
  workspace: Flag.String("workspace").pipe(Flag.withAlias("w"), Flag.withDescription("Workspace"), Flag.optional),
  node: Flag.String("node").pipe(Flag.withDescription("Node, by its name (SVC_NODE_NAME)"), Flag.optional)
}

type Given = Pick<AdminTarget, "config" | "url">

const selectScope = Effect.fnUntraced(function* (workspace: Option.Option<string>, node: Option.Option<string>) {
  if (Option.isSome(workspace) && Option.isNone(node)) return ["workspace", workspace.value] as const
  if (Option.isSome(node) && Option.isNone(workspace)) return ["node", node.value] as const
  return yield* new ExitWith({ code: 2, message: "Name one: --workspace ID or --node NAME" })
})

const toScope = (kind: "workspace" | "node", name: string) =>
  kind === "workspace" ? { workspace: name } : { node: name }

const unknown = (what: string) =>
  new ExitWith({ code: 2, message: `no entry or batch has the id ${what}; see aicr queue list --status all` })

/** Reads all pages of the queue. */
const readQueue = Effect.fnUntraced(function* ({ queue }: AdminClient, status: string, workspace: string | undefined) {
  const filter = { status, limit: page, ...(workspace === undefined ? {} : { workspace }) }
  const first = yield* request(queue.list({ query: filter }))
  const entries = [...first.items]
  let cursor = first.next_cursor
  while (cursor !== null) {
    const next = yield* request(queue.list({ query: { ...filter, cursor } }))
    entries.push(...next.items)
    cursor = next.next_cursor
  }
  return { entries, batches: first.held_batches, pauses: first.pauses }
})

const list = (openAdmin: OpenAdmin) =>
  Command.make(
    "list",
    {
      ...shared,
      json: jsonFlag,
      workspace: scope.workspace,
      status: Flag.String("status").pipe(
        Flag.withDescription("Statuses to list, comma-separated, or `all`; default: the active ones"),
        Flag.withDefault("waiting,ready,running")
      )
    },
    Effect.fnUntraced(function* ({ config, json, status, url, workspace }) {
      const { batches, entries, pauses } = yield* openAdmin({ config, url, use: "looking" }, (client) =>
        readQueue(client, status, Option.getOrUndefined(workspace))
      )
      if (json) return yield* Console.log(JSON.stringify({ entries, batches, pauses }, null, 2))
      for (const pause of pauses) yield* Console.log(formatPause(pause))
      for (const entry of entries) yield* Console.log(formatEntry(entry))
      for (const batch of batches) yield* Console.log(formatBatch(batch))
      if (entries.length + batches.length === 0) yield* Console.log("No entries.")
    })
  ).pipe(
    Command.withDescription("List waiting and running reviews, with reasons and times"),
    Command.withExamples([
      { command: "aicr queue list --workspace app", description: "Reviews of one workspace" },
      { command: "aicr queue list --status dead", description: "Failed reviews, with the reason" }
    ])
  )

const show = (openAdmin: OpenAdmin) =>
  Command.make(
    "show",
    { ...shared, json: jsonFlag, id },
    Effect.fnUntraced(function* ({ config, id: wanted, json, url }) {
      const item = yield* openAdmin({ config, url, use: "looking" }, ({ queue }) =>
        request(Effect.catchTag(queue.get({ params: { id: wanted } }), "NotFound", () => unknown(wanted)))
      )
      if (json) return yield* Console.log(JSON.stringify(item, null, 2))
      for (const line of formatDetails(item)) yield* Console.log(line)
    })
  ).pipe(
    Command.withDescription("Print everything about one review or batch"),
    Command.withExamples([
      {
        command: "aicr queue show 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90",
        description: "An id as `aicr queue list` prints it"
      }
    ])
  )

/** Changes the queue. */
const change = <A>(
  openAdmin: OpenAdmin,
  { config, url }: Given,
  use: (client: AdminClient) => Effect.Effect<A, ExitWith>
) => openAdmin({ config, url, use: "changing" }, use)

const cancel = (openAdmin: OpenAdmin) =>
  Command.make(
    "cancel",
    { ...shared, id, reason },
    Effect.fnUntraced(function* ({ config, id: wanted, reason: why, url }) {
      const { status } = yield* change(openAdmin, { config, url }, ({ queue }) =>
        request(
          Effect.catchTags(queue.cancel({ params: { id: wanted }, payload: { reason: why } }), {
            NotFound: () => unknown(wanted),
            StateConflict: () => Effect.succeed({ status: "ended" as const })
          })
        )
      )
      const texts = {
        ended: `${wanted} had ended already; nothing was changed.`,
        cancelled: `${wanted} is cancelled.`,
        stopping: `${wanted} is running and is being cancelled.`
      }
      yield* Console.log(texts[status])
    })
  ).pipe(
    Command.withDescription("Cancel a waiting or running review"),
    Command.withExamples([
      {
        command: 'aicr queue cancel 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90 --reason "wrong branch"',
        description: "The reason stays on record"
      }
    ])
  )

const retry = (openAdmin: OpenAdmin) =>
  Command.make(
    "retry",
    { ...shared, id },
    Effect.fnUntraced(function* ({ config, id: wanted, url }) {
      yield* change(openAdmin, { config, url }, ({ queue }) =>
        request(
          Effect.catchTags(queue.retry({ params: { id: wanted } }), {
            NotFound: () => unknown(wanted),
            StateConflict: (problem) =>
              refused(
                problem.code === "not_dead"
                  ? `${wanted} is not dead: only dead entries can be retried`
                  : `${wanted} is not retried: ${detail(problem)}`
              )
          })
        )
      )
      yield* Console.log(`${wanted} waits again, with its full number of attempts.`)
    })
  ).pipe(
    Command.withDescription("Start a failed review or batch again (status dead)"),
    Command.withExamples([
      {
        command: "aicr queue retry 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90",
        description: "With its full number of attempts, after fixing the cause"
      },
      {
        command: "aicr queue retry 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90 --url https://aicr.example.com",
        description: "At a service on another machine"
      }
    ])
  )

const rereview = (openAdmin: OpenAdmin) =>
  Command.make(
    "rereview",
    { ...shared, run: Argument.String("RUN").pipe(Argument.withDescription("Id of a run, as `aicr why` prints it")) },
    Effect.fnUntraced(function* ({ config, run, url }) {
      const { event_id: event, status } = yield* change(openAdmin, { config, url }, ({ runs }) =>
        request(
          Effect.catchTags(runs.rereview({ params: { id: run } }), {
            NotFound: () => refused(`no run has the id ${run}`),
            StateConflict: (problem) => refused(`${run} is not reviewed again: ${detail(problem)}`)
          })
        )
      )
      yield* Console.log(`The review is ${status}: aicr why ${event}`)
    })
  ).pipe(
    Command.withDescription("Review the change of a run again"),
    Command.withExamples([
      {
        command: "aicr queue rereview 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90",
        description: "A pull request in its current state, a push at the same commits"
      }
    ])
  )

const pause = (openAdmin: OpenAdmin) =>
  Command.make(
    "pause",
    { ...shared, ...scope, reason },
    Effect.fnUntraced(function* ({ config, node, reason: why, url, workspace }) {
      const [kind, name] = yield* selectScope(workspace, node)
      const payload = { ...toScope(kind, name), reason: why }
      yield* change(openAdmin, { config, url }, ({ queue }) => request(queue.pause({ payload })))
      yield* Console.log(
        `${kind} ${name} starts no reviews until it is resumed. Running reviews finish, and deliveries are accepted.`
      )
    })
  ).pipe(
    Command.withDescription("Pause a workspace or a node"),
    Command.withExamples([
      {
        command: 'aicr queue pause --workspace app --reason "release"',
        description: "Deliveries are accepted and wait"
      },
      { command: "aicr queue pause --node eu-1", description: "Before the machine is shut down" }
    ])
  )

const resume = (openAdmin: OpenAdmin) =>
  Command.make(
    "resume",
    { ...shared, ...scope },
    Effect.fnUntraced(function* ({ config, node, url, workspace }) {
      const [kind, name] = yield* selectScope(workspace, node)
      const payload = toScope(kind, name)
      yield* change(openAdmin, { config, url }, ({ queue }) => request(queue.resume({ payload })))
      yield* Console.log(`${kind} ${name} is resumed.`)
    })
  ).pipe(
    Command.withDescription("Resume a paused workspace or node"),
    Command.withExamples([
      { command: "aicr queue resume --workspace app", description: "Waiting reviews continue in order" }
    ])
  )

/** Interval between two queries for running reviews. */
const drainPoll = "1 second"

const drain = (openAdmin: OpenAdmin) =>
  Command.make(
    "drain",
    {
      ...shared,
      node: Flag.String("node").pipe(Flag.withDescription("Node, by its name (SVC_NODE_NAME)")),
      reason,
      wait: Flag.Boolean("wait").pipe(
        Flag.withDefault(false),
        Flag.withDescription("Wait until the node runs no reviews")
      )
    },
    Effect.fnUntraced(function* ({ config, node, reason: why, url, wait }) {
      const payload = { node, reason: why }
      const left = yield* change(openAdmin, { config, url }, ({ queue }) =>
        Effect.repeat(
          Effect.map(request(queue.drain({ payload })), ({ running }) => running),
          { until: (running) => !wait || running === 0, schedule: Schedule.spaced(drainPoll) }
        )
      )
      yield* Console.log(
        `node ${node} takes no more reviews until it is resumed; it runs ${left === 0 ? "none" : String(left)}.`
      )
    })
  ).pipe(
    Command.withDescription("Pause a node and report the reviews that it still runs"),
    Command.withExamples([
      { command: "aicr queue drain --node eu-1 --wait", description: "Ends when the node can be shut down" }
    ])
  )

export const queueCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) => {
  const openAdmin: OpenAdmin = (...given) => Effect.flatMap(runs, (loaded) => loaded.openAdmin(...given))
  return Command.make("queue").pipe(
    Command.withDescription("List, cancel, retry and repeat reviews; pause, drain and resume workspaces and nodes"),
    Command.withSubcommands([
      list(openAdmin),
      show(openAdmin),
      cancel(openAdmin),
      retry(openAdmin),
      rereview(openAdmin),
      pause(openAdmin),
      resume(openAdmin),
      drain(openAdmin)
    ])
  )
}
