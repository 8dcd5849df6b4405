/**
 * Implements `aicr doctor`: checks whether this machine can run a configuration. Reports reserved fields, unset variables, missing programs
 * unreachable servers, credentials without permission and models that do not respond, each with the next step.
 */
import { Console, Effect, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { access, constants } from "node:fs/promises"
import { connect } from "node:net"
import { delimiter, isAbsolute, join } from "node:path"
import { formatIssue } from "../config/ConfigIssue.ts"
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Role } from "../domain/Role.ts"
import type { AccessReport } from "../forge/Access.ts"
import type { Program, Server } from "../config/Requirements.ts"
import { listPrograms, listServers } from "../config/Requirements.ts"
import { ExitWith } from "./Exit.ts"
import { configFlag, fileOnlyFlag } from "./ConfigFlag.ts"
import { databaseAdvice, describeSource, openFile } from "./ReadSnapshot.ts"
import { parseRoles } from "./Roles.ts"
import { reportService } from "./RunningService.ts"
import { count } from "./Wording.ts"
import { inEnglish } from "../text/en.ts"

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
  /** Returns missing permissions of credentials at their hosts. */
  readonly hostAccess: (snapshot: Snapshot) => Effect.Effect<ReadonlyArray<AccessReport>>
  /** Returns which models of the chains respond, if a node with these roles calls models. */
  readonly modelAccess: (snapshot: Snapshot, roles: ReadonlySet<Role>) => Effect.Effect<ReadonlyArray<AccessReport>>
}

interface Line {
  readonly level: AccessReport["level"]
  readonly text: string
}

/** Prints issues; returns the number of errors. */
const reportIssues = Effect.fnUntraced(function* (
  issues: ReadonlyArray<ConfigIssue>,
  line: (level: AccessReport["level"], text: string) => Effect.Effect<void>
) {
  for (const issue of issues) yield* line(issue.severity, formatIssue(issue))
  return issues.filter(({ severity }) => severity === "error").length
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
      const { agentAccess, hostAccess, modelAccess, buildProblems } = yield* runs
      const { bad: invalid, lines, snapshot } = yield* judge(config, { fileOnly, roles })
      if (named !== undefined)
        yield* line("ok", `roles ${[...roles].join(", ")} (SVC_ROLES): credentials of other roles are not checked`)
      for (const { level, text } of lines) yield* line(level, text)
      let bad = invalid
      if (snapshot !== undefined) {
        bad += yield* reportIssues(buildProblems(snapshot, roles), line)
        for (const program of listPrograms(snapshot)) {
          const found = yield* lookup(program)
          if (!found) bad++
          yield* found
            ? line("ok", `${program.name} is installed (${program.why})`)
            : line("error", `${program.name} is not installed (${program.why}); ${program.install}`)
        }
        const servers = offline ? [] : listServers(snapshot, process.env, roles)
        const results = yield* Effect.forEach(servers, reach, { concurrency: 16 })
        for (const [index, server] of servers.entries()) {
          const problem = results[index]
          if (problem !== undefined) bad++
          const name = `${server.host}:${server.port} (${server.why})`
          yield* problem === undefined
            ? line("ok", `${name} responds`)
            : line("error", `${name} cannot be reached: ${problem}; check the address, the network and the server`)
        }
        const remote = offline
          ? []
          : [
              ...(yield* reportService(snapshot.document.server)),
              ...(yield* hostAccess(snapshot)),
              ...(yield* modelAccess(snapshot, roles))
            ]
        for (const { level, reason } of [...(yield* agentAccess(snapshot, !offline)), ...remote]) {
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

const lookup = ({ name }: Program): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    if (isAbsolute(name)) return isExecutable(name)
    for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
      if (folder !== "" && (await isExecutable(join(folder, name)))) return true
    }
    return false
  })

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false
  )

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
