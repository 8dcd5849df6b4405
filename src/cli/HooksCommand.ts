/** Implements `aicr hooks print`: prints how to install the hook scripts of Perforce and Subversion. */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { configFlag, fileOnlyFlag } from "./ConfigFlag.ts"
import { refused } from "./Exit.ts"
import { readSnapshot } from "./ReadSnapshot.ts"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"

interface HookOptions {
  /** A trigger of the server that will report. */
  readonly trigger: TriggerProfile
  /** Folder of the scripts on the machine of the version control server. */
  readonly folder: string
}

/** Single quotes of the shell. */
const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

const serviceUrl = ({ document: { server } }: Snapshot): string => {
  const base =
    server.base_url ?? `http://${server.hostname === "0.0.0.0" ? "HOST_OF_AICR" : server.hostname}:${server.port}`
  const prefix = (server.path_prefix ?? "").replace(/\/$/, "")
  const clean = base.replace(/(?<!\/)\/+$/, "")
  return prefix !== "" && !clean.endsWith(prefix) ? `${clean}${prefix}` : clean
}

const settings = (snapshot: Snapshot): ReadonlyArray<string> => [
  `AICR_URL=${quote(serviceUrl(snapshot))}`,
  "AICR_API_KEY_FILE=/etc/aicr/api-key"
]

const enabledOf = (snapshot: Snapshot, kind: "perforce" | "subversion"): ReadonlyArray<TriggerProfile> =>
  snapshot.triggersOfKind(kind).filter(({ enabled }) => enabled)

/**
 * Text of `aicr hooks print`: how to install a hook script, filled in from the configuration. Pure.
 *
 * Returns an enabled trigger per server of Perforce, or per repository of Subversion.
 */
export const listServers = (snapshot: Snapshot, kind: "perforce" | "subversion"): ReadonlyArray<TriggerProfile> => {
  const found = new Map<string, TriggerProfile>()
  for (const trigger of enabledOf(snapshot, kind)) {
    const { port, repository_url = "" } = trigger.settings
    const key = kind === "perforce" ? String(port) : repository_url
    if (!found.has(key)) found.set(key, trigger)
  }
  return [...found.values()]
}

const toDepotPath = (path: string | undefined): string => {
  if (path === undefined) return "//..."
  const clean = path.replace(/\/?\.\.\.$/, "").replace(/(?<!\/)\/+$/, "")
  return `${clean}/...`
}

/** Lines of the table of triggers. Each path is listed once, although several triggers may have it. */
export const perforceHooks = (snapshot: Snapshot, { folder, trigger }: HookOptions): ReadonlyArray<string> => {
  const script = `${folder}/p4-trigger.sh`
  const paths = [
    ...new Set(
      enabledOf(snapshot, "perforce")
        .filter(({ settings: { port } }) => port === trigger.settings.port)
        .map(({ settings: { depot_path } }) => toDepotPath(depot_path))
    )
  ]
  const lines = paths.flatMap((path, index) => {
    const suffix = paths.length === 1 ? "" : `-${index + 1}`
    const target = /\s/.test(path) ? `"${path}"` : path
    const call = `"${script} %change% %user% %client% %quote%${path}%quote%`
    return [
      `\taicr-submit${suffix} change-commit ${target} ${call} %oldchange%"`,
      `\taicr-shelve${suffix} shelve-commit ${target} ${call}"`,
      `\taicr-delete${suffix} shelve-delete ${target} ${call} deleted"`
    ]
  })
  return [
    "# p4-trigger.conf, next to the script and readable by the server's user only:",
    ...settings(snapshot),
    `AICR_TRIGGER=${quote(trigger.name)}`,
    "",
    "# Add these lines below `Triggers:` in `p4 triggers`. Leave out aicr-shelve and aicr-delete to review submitted changelists only.",
    ...lines
  ]
}

/** Returns the lines of the hook, which is a whole script. */
export const subversionHooks = (snapshot: Snapshot, { folder, trigger }: HookOptions): ReadonlyArray<string> => [
  "#!/bin/sh",
  `# hooks/post-commit of ${trigger.settings.repository_url ?? "the repository"}, executable.`,
  "# svn-trigger.conf, next to svn-trigger.sh and readable by the server's user only, has these lines:",
  ...settings(snapshot).map((line) => `#   ${line}`),
  `AICR_TRIGGER=${quote(trigger.name)}`,
  "export AICR_TRIGGER",
  `exec ${quote(`${folder}/svn-trigger.sh`)} "$1" "$2"`
]

const kinds = {
  p4: { kind: "perforce", text: perforceHooks },
  svn: { kind: "subversion", text: subversionHooks }
} as const

const print = Command.make(
  "print",
  {
    system: Argument.Literals("SYSTEM", ["p4", "svn"] as const).pipe(Argument.withDescription("p4 or svn")),
    config: configFlag,
    fileOnly: fileOnlyFlag,
    folder: Flag.String("folder").pipe(
      Flag.withMetavar("PATH"),
      Flag.withDescription("Folder of the scripts on the machine of the server"),
      Flag.withDefault("/opt/aicr/hooks")
    ),
    trigger: Flag.String("trigger").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("A trigger of the server, if there are several servers"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ config, fileOnly, folder, system, trigger: name }) {
    const snapshot = yield* readSnapshot(config, { fileOnly })
    const { kind, text } = kinds[system]
    const servers = listServers(snapshot, kind)
    const [first] = servers
    if (first === undefined)
      return yield* refused(
        `${config} has no enabled trigger of kind ${kind}; add one to triggers, then print its hooks`
      )
    const names = servers.map((one) => one.name).join(", ")
    if (Option.isNone(name) && servers.length > 1)
      return yield* refused(`${config} has several ${kind} servers; name a trigger of one with --trigger: ${names}`)
    const trigger = Option.isNone(name) ? first : snapshot.triggers.get(name.value)
    if (trigger?.kind !== kind)
      return yield* refused(`${config} has no trigger ${Option.getOrElse(name, () => "")} of kind ${kind}: ${names}`)
    if (/["%\p{Cc}]/u.test(folder)) return yield* refused("--folder has quotes, percent signs or control characters")
    yield* Console.log(text(snapshot, { trigger, folder: folder.replace(/(?<!\/)\/+$/, "") }).join("\n"))
  })
).pipe(
  Command.withDescription(
    "Print the lines that install a hook script (scripts/hooks), with the values of the configuration"
  ),
  Command.withExamples([
    { command: "aicr hooks print p4 --config config.yaml", description: "Lines for `p4 triggers`, and the settings" },
    {
      command: "aicr hooks print svn --trigger tree > hooks/post-commit",
      description: "The hook of the repository of trigger tree, with the settings as comments"
    }
  ])
)

export const hooksCommand = Command.make("hooks").pipe(
  Command.withDescription("Hook scripts of Perforce and Subversion"),
  Command.withSubcommands([print])
)
