/** Text of `aicr hooks print`: how to install a hook script, filled in from the configuration. Pure. */
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

/** Returns an enabled trigger per server of Perforce, or per repository of Subversion. */
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

/** Lines of the table of triggers: three per trigger profile would be too many for one depot, so paths are listed once. */
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
      `\taicr-shelve${suffix} shelve-commit ${target} ${call}"`
    ]
  })
  return [
    "# p4-trigger.conf, next to the script and readable by the server's user only:",
    ...settings(snapshot),
    `AICR_TRIGGER=${quote(trigger.name)}`,
    "",
    "# Add these lines below `Triggers:` in `p4 triggers`. Leave out aicr-shelve to review submitted changelists only.",
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
