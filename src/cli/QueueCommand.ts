/**
 * Implements `aicr queue list|show|cancel|retry|pause|resume|drain`: displays waiting and running work with reasons and times, and changes
 * it. The administration does the work (AdminCall.ts); the function that opens it is a parameter, so that the command line depends on no
 * adapter.
 */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { detail, request, unexpected, urlFlag } from "./AdminCall.ts"
import type { AdminReply, AdminTarget, OpenAdmin, SendCall } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { ExitWith } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { Drained, QueuePage } from "./QueueReplies.ts"
import { formatBatch, formatDetails, formatEntry, formatPause } from "./QueueText.ts"

/** Number of entries per request. */
const page = 200

const shared = { config: configFlag, url: urlFlag }
const id = Argument.String("ID").pipe(Argument.withDescription("Id of an entry or of a batch of automatic commits"))
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

const unknown = (what: string) =>
  new ExitWith({ code: 2, message: `no entry or batch has the id ${what}; see aicr queue list --status all` })

/** Reads all pages of the queue. */
const readQueue = Effect.fnUntraced(function* (send: SendCall, status: string, workspace: string | undefined) {
  const items: Array<QueuePage["items"][number]> = []
  const raw: Array<unknown> = []
  let first: QueuePage | undefined
  let cursor: string | undefined
  do {
    const query = { status, workspace, cursor, limit: page }
    const { body, value } = yield* request(send, QueuePage, { method: "GET", path: "/queue", query })
    first ??= value
    items.push(...value.items)
    if (Array.isArray(body["items"])) raw.push(...body["items"])
    cursor = value.next_cursor ?? undefined
  } while (cursor !== undefined)
  return { items, raw, batches: first.held_batches, pauses: first.pauses }
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
      const { batches, items, pauses, raw } = yield* openAdmin({ config, url, use: "looking" }, (send) =>
        readQueue(send, status, Option.getOrUndefined(workspace))
      )
      if (json) return yield* Console.log(JSON.stringify({ entries: raw, batches, pauses }, null, 2))
      for (const pause of pauses) yield* Console.log(formatPause(pause))
      for (const item of items) yield* Console.log(formatEntry(item))
      for (const batch of batches) yield* Console.log(formatBatch(batch))
      if (items.length + batches.length === 0) yield* Console.log("No entries.")
    })
  ).pipe(
    Command.withDescription("List waiting and running entries, with reasons and times"),
    Command.withExamples([
      { command: "aicr queue list --workspace app", description: "Entries of one workspace" },
      { command: "aicr queue list --status dead", description: "Dead entries, with the reason" }
    ])
  )

const show = (openAdmin: OpenAdmin) =>
  Command.make(
    "show",
    { ...shared, json: jsonFlag, id },
    Effect.fnUntraced(function* ({ config, id: wanted, json, url }) {
      const path = `/queue/${encodeURIComponent(wanted)}`
      const reply = yield* openAdmin({ config, url, use: "looking" }, (send) => send({ method: "GET", path }))
      if (reply.status === 404) return yield* unknown(wanted)
      if (reply.status !== 200) return yield* unexpected(reply)
      if (json) return yield* Console.log(JSON.stringify(reply.body, null, 2))
      for (const line of formatDetails(reply.body)) yield* Console.log(line)
    })
  ).pipe(
    Command.withDescription("One entry or batch in full"),
    Command.withExamples([
      {
        command: "aicr queue show 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90",
        description: "An id as `aicr queue list` prints it"
      }
    ])
  )

/** Changes the queue. */
const change = (openAdmin: OpenAdmin, { config, url }: Given, path: string, body?: object) =>
  openAdmin({ config, url, use: "changing" }, (send) => send({ method: "POST", path, body }))

const changeEntry = (openAdmin: OpenAdmin, given: Given, entryId: string, action: "cancel" | "retry", body?: object) =>
  Effect.flatMap(
    change(openAdmin, given, `/queue/${encodeURIComponent(entryId)}/${action}`, body),
    (reply): Effect.Effect<AdminReply, ExitWith> =>
      reply.status === 404 ? Effect.fail(unknown(entryId)) : Effect.succeed(reply)
  )

const cancel = (openAdmin: OpenAdmin) =>
  Command.make(
    "cancel",
    { ...shared, id, reason },
    Effect.fnUntraced(function* ({ config, id: wanted, reason: why, url }) {
      const reply = yield* changeEntry(openAdmin, { config, url }, wanted, "cancel", { reason: why })
      if (reply.status === 409) return yield* Console.log(`${wanted} had ended already; nothing was changed.`)
      if (reply.status !== 202) return yield* unexpected(reply)
      yield* Console.log(
        reply.body["status"] === "cancelled" ? `${wanted} is cancelled.` : `${wanted} runs; its worker ends it.`
      )
    })
  ).pipe(
    Command.withDescription("Cancel a waiting or running entry"),
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
      const reply = yield* changeEntry(openAdmin, { config, url }, wanted, "retry")
      if (reply.status === 202) return yield* Console.log(`${wanted} waits again, with its full number of attempts.`)
      if (reply.status !== 409) return yield* unexpected(reply)
      return yield* new ExitWith({
        code: 2,
        message:
          reply.body["code"] === "not_dead"
            ? `${wanted} is not dead: only dead entries can be retried`
            : `${wanted} is not retried: ${detail(reply)}`
      })
    })
  ).pipe(
    Command.withDescription("Retry a dead entry or batch"),
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

const pause = (openAdmin: OpenAdmin) =>
  Command.make(
    "pause",
    { ...shared, ...scope, reason },
    Effect.fnUntraced(function* ({ config, node, reason: why, url, workspace }) {
      const [kind, name] = yield* selectScope(workspace, node)
      const reply = yield* change(openAdmin, { config, url }, "/queue/pause", { [kind]: name, reason: why })
      if (reply.status !== 200) return yield* unexpected(reply)
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
      const reply = yield* change(openAdmin, { config, url }, "/queue/resume", { [kind]: name })
      if (reply.status !== 200) return yield* unexpected(reply)
      yield* Console.log(`${kind} ${name} is resumed.`)
    })
  ).pipe(
    Command.withDescription("Resume a paused workspace or node"),
    Command.withExamples([
      { command: "aicr queue resume --workspace app", description: "Waiting entries continue in order" }
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
      const body = { node, reason: why }
      const left = yield* openAdmin({ config, url, use: "changing" }, (send) =>
        Effect.gen(function* () {
          while (true) {
            const call = { method: "POST", path: "/queue/drain", body } as const
            const { running } = (yield* request(send, Drained, call)).value
            if (!wait || running === 0) return running
            yield* Effect.sleep(drainPoll)
          }
        })
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
    Command.withDescription("List, cancel and retry entries; pause, drain and resume workspaces and nodes"),
    Command.withSubcommands([
      list(openAdmin),
      show(openAdmin),
      cancel(openAdmin),
      retry(openAdmin),
      pause(openAdmin),
      resume(openAdmin),
      drain(openAdmin)
    ])
  )
}
