/**
 * Implements `aicr doctor`: checks whether this machine can run a configuration. Reports reserved fields, unset variables, missing programs
 * unreachable servers, credentials without permission and models that do not respond, each with the next step.
 */
import { Console, Effect, Result, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { connect } from "node:net"
import { formatIssue } from "../config/ConfigIssue.ts"
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Role } from "../domain/Role.ts"
import type { Server } from "../config/Requirements.ts"
import type { AccessReport } from "../forge/Access.ts"
import { hasProgram, listPrograms, listServers } from "../config/Requirements.ts"
import { ExitWith } from "./Exit.ts"
import { configFlag, fileOnlyFlag } from "./ConfigFlag.ts"
import { databaseAdvice, describeSource, openFile } from "./ReadSnapshot.ts"
import { parseRoles } from "./Roles.ts"
import { count } from "./Wording.ts"
import { inEnglish } from "../text/en.ts"

const timeoutMillis = 3000

const Readiness = Schema.Struct({
  status: Schema.Literals(["ready", "starting", "not_ready"]),
  not_ready: Schema.optional(Schema.Array(Schema.String))
})
const decode = Schema.decodeUnknownOption(Readiness)

/**
 * Reports whether the service that runs on this machine, on the port of the configuration, is ready.
 *
 * Returns nothing if no service, or another program, listens there.
 */
export const reportService = ({
  hostname,
  port
}: {
  readonly hostname: string
  readonly port: number
}): Effect.Effect<ReadonlyArray<AccessReport>> =>
  Effect.promise(async () => {
    const host = hostname === "0.0.0.0" || hostname === "::" ? "127.0.0.1" : hostname
    const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}/readyz`
    const body: unknown = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(timeoutMillis) })
      .then((response) => response.json())
      .catch(() => undefined)
    const found = decode(body)
    if (found._tag === "None") return []
    const { not_ready: parts = [], status } = found.value
    if (status === "ready") return [{ level: "ok", reason: { _tag: "ServiceReady", port } }]
    const named = parts.length === 0 ? {} : { parts }
    return [
      status === "starting"
        ? { level: "warning", reason: { _tag: "ServiceWaits", port, ...named } }
        : {
            level: "error",
            reason: { _tag: "ServiceNotReady", port, ...named }
          }
    ]
  })

/** Timeout in milliseconds for connecting to a server. */
const connectTimeoutMillis = 3000

interface Runs {
  /** Returns configured features that this build lacks, as far as they concern a node with these roles. */
  readonly buildProblems: (snapshot: Snapshot, roles: ReadonlySet<Role>) => ReadonlyArray<ConfigIssue>
  /**
   * Returns whether the sandbox and the program of each agent CLI exist. Connects to nothing but engines of this machine. `runs`: and the
   * points of `aicr agent check`.
   */
  readonly agentAccess: (snapshot: Snapshot, runs: boolean) => Effect.Effect<ReadonlyArray<AccessReport>>
  /** Returns the triggers without the credential that a node with these roles needs. */
  readonly missingCredentials: (snapshot: Snapshot, roles: ReadonlySet<Role>) => ReadonlyArray<AccessReport>
  /** Returns missing permissions of credentials at their hosts. */
  readonly hostAccess: (snapshot: Snapshot) => Effect.Effect<ReadonlyArray<AccessReport>>
  /** Returns whether git reads the repositories of the triggers, with the environment, certificates, proxy and credential of a checkout. */
  readonly gitAccess: (snapshot: Snapshot, roles: ReadonlySet<Role>) => Effect.Effect<ReadonlyArray<AccessReport>>
  /** Returns which models of the chains respond, if a node with these roles calls models. */
  readonly modelAccess: (snapshot: Snapshot, roles: ReadonlySet<Role>) => Effect.Effect<ReadonlyArray<AccessReport>>
}

interface Line {
  readonly level: AccessReport["level"]
  readonly text: string
}

type PrintLine = (level: AccessReport["level"], text: string) => Effect.Effect<void>

/** Prints issues; returns the number of errors. */
const reportIssues = Effect.fnUntraced(function* (issues: ReadonlyArray<ConfigIssue>, line: PrintLine) {
  for (const issue of issues) yield* line(issue.severity, formatIssue(issue))
  return issues.filter(({ severity }) => severity === "error").length
})

/** Prints whether each program is installed; returns the number of missing ones. */
const reportPrograms = Effect.fnUntraced(function* (snapshot: Snapshot, line: PrintLine) {
  let missing = 0
  for (const { install, name, why } of listPrograms(snapshot)) {
    const isFound = yield* hasProgram(name)
    if (!isFound) missing++
    yield* isFound
      ? line("ok", `${name} is installed (${why})`)
      : line("error", `${name} is not installed (${why}); ${install}`)
  }
  return missing
})

/** Prints whether each server accepts a connection; returns the number of those that do not. */
const reportServers = Effect.fnUntraced(function* (servers: ReadonlyArray<Server>, line: PrintLine) {
  const results = yield* Effect.forEach(servers, reach, { concurrency: 16 })
  for (const [index, server] of servers.entries()) {
    const problem = results[index]
    const name = `${server.host}:${server.port} (${server.why})`
    yield* problem === undefined
      ? line("ok", `${name} responds`)
      : line("error", `${name} cannot be reached: ${problem}; check the address, the network and the server`)
  }
  return results.filter((problem) => problem !== undefined).length
})

export const doctorCommand = (runs: Effect.Effect<Runs>) =>
  Command.make(
    "doctor",
    {
      config: configFlag,
      fileOnly: fileOnlyFlag,
      offline: Flag.Boolean("offline").pipe(
        Flag.withDefault(false),
        Flag.withDescription("Do not connect to servers, call no model and run no agent CLI")
      ),
      json: Flag.Boolean("json").pipe(
        Flag.withDefault(false),
        Flag.withDescription("Print one JSON object: ok, and checks with level and text")
      )
    },
    Effect.fnUntraced(function* ({ config, fileOnly, json, offline }) {
      const checks: Array<Line> = []
      const line = (level: AccessReport["level"], text: string): Effect.Effect<void> => {
        checks.push({ level, text })
        return json ? Effect.void : Console.log(`${level.padEnd(8)} ${text}`)
      }
      const named = process.env["SVC_ROLES"]
      const held = parseRoles(named ?? "all")
      if (Result.isFailure(held)) return yield* new ExitWith({ code: 2, message: held.failure })
      const roles = held.success
      const { agentAccess, gitAccess, missingCredentials, hostAccess, modelAccess, buildProblems } = yield* runs
      const { bad: invalid, lines, snapshot } = yield* judge(config, { fileOnly, roles })
      if (named !== undefined)
        yield* line("ok", `roles ${[...roles].join(", ")} (SVC_ROLES): credentials of other roles are not checked`)
      for (const { level, text } of lines) yield* line(level, text)
      let bad = invalid
      if (snapshot !== undefined) {
        bad += yield* reportIssues(buildProblems(snapshot, roles), line)
        bad += yield* reportPrograms(snapshot, line)
        bad += yield* reportServers(offline ? [] : listServers(snapshot, process.env, roles), line)
        const remote = offline
          ? []
          : [
              ...(yield* reportService(snapshot.document.server)),
              ...(yield* hostAccess(snapshot)),
              ...(yield* gitAccess(snapshot, roles)),
              ...(yield* modelAccess(snapshot, roles))
            ]
        const local = [...missingCredentials(snapshot, roles), ...(yield* agentAccess(snapshot, !offline))]
        for (const { level, reason } of [...local, ...remote]) {
          if (level === "error") bad++
          yield* line(level, inEnglish(reason))
        }
      }
      if (json) yield* Console.log(JSON.stringify({ ok: bad === 0, checks }, undefined, 2))
      if (bad > 0)
        return yield* new ExitWith({
          code: 2,
          message: `${bad} ${bad === 1 ? "thing needs" : "things need"} attention`
        })
    })
  ).pipe(
    Command.withDescription("Check whether this machine can run a configuration"),
    Command.withExamples([
      {
        command: "aicr doctor --config config.yaml",
        description: "Fields, variables, programs and servers, each with what to do"
      },
      { command: "aicr doctor --offline", description: "Without connecting to anything" }
    ])
  )

/** Judges the effective configuration. Without its database, the snapshot has only the sections that name its stores. */
const judge = Effect.fnUntraced(function* (
  config: string,
  { fileOnly, roles }: { readonly fileOnly: boolean; readonly roles: ReadonlySet<Role> }
) {
  const effective = yield* openFile(config, { fileOnly })
  const { source } = effective
  // Unset variables do not prevent the other checks; the strict reading reports those that prevent a start.
  const { snapshot, issues } = effective.read({ unset: "warnings", roles })
  const strict = effective.read({ roles })
  const fatal = new Set(strict.issues.filter(({ severity }) => severity === "error").map(({ path }) => path))
  const lines = issues.map((issue): Line => ({
    level: fatal.has(issue.path) || issue.severity === "error" ? "error" : "warning",
    text: formatIssue(issue)
  }))
  if (source._tag === "Unavailable") {
    const advice: Line = { level: "error", text: databaseAdvice }
    return { snapshot: source.bootstrap, bad: fatal.size, lines: [...lines, advice] }
  }
  if (snapshot === undefined) return { snapshot, bad: fatal.size, lines }
  const text = `${describeSource(config, effective) ?? config}: valid, ${count(snapshot.workspaces.size, "workspace")}`
  return { snapshot, bad: fatal.size, lines: [...lines, { level: "ok", text } satisfies Line] }
})

/** Returns undefined if the server accepts a connection, otherwise the reason. */
const reach = ({ host, port }: Server): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    const socket = connect({ host, port, timeout: connectTimeoutMillis })
    socket.once("connect", () => resume(Effect.succeed(undefined)))
    socket.once("timeout", () => resume(Effect.succeed(`no response within ${connectTimeoutMillis / 1000} s`)))
    socket.once("error", (error) =>
      resume(Effect.succeed("code" in error && typeof error.code === "string" ? error.code : "connection failed"))
    )
    return Effect.sync(() => socket.destroy())
  })
