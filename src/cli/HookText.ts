/** Text of `aicr hooks print`: how to install a hook script, filled in from the configuration. Pure. */
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"

export interface HookPlaces {
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

const settings = (snapshot: Snapshot, name: string): ReadonlyArray<string> => [
  `# ${name}.conf, next to the script and readable by the server's user only:`,
  `AICR_URL=${quote(serviceUrl(snapshot))}`,
  "AICR_API_KEY_FILE=/etc/aicr/api-key"
]

const enabledOf = (snapshot: Snapshot, kind: "perforce" | "subversion"): ReadonlyArray<TriggerProfile> =>
  snapshot.triggersOfKind(kind).filter(({ enabled }) => enabled)

const toDepotPath = (path: string | undefined): string => {
  if (path === undefined) return "//..."
  const clean = path.replace(/\/?\.\.\.$/, "").replace(/(?<!\/)\/+$/, "")
  return `${clean}/...`
}

/** Lines of the table of triggers: three per trigger profile would be too many for one depot, so paths are listed once. */
export const perforceHooks = (snapshot: Snapshot, { folder }: HookPlaces): ReadonlyArray<string> => {
  const script = `${folder}/p4-trigger.sh`
  const paths = [
    ...new Set(enabledOf(snapshot, "perforce").map(({ settings: { depot_path } }) => toDepotPath(depot_path)))
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
    ...settings(snapshot, "p4-trigger"),
    "",
    "# Add these lines below `Triggers:` in `p4 triggers`. Leave out aicr-shelve to review submitted changelists only.",
    ...lines
  ]
}

export const subversionHooks = (snapshot: Snapshot, { folder }: HookPlaces): ReadonlyArray<string> => {
  const urls = enabledOf(snapshot, "subversion").flatMap(({ settings: { repository_url } }) => repository_url ?? [])
  return [
    ...settings(snapshot, "svn-trigger"),
    "",
    `# hooks/post-commit of the repository${urls.length === 1 ? "" : " of each of these URLs"}, executable:`,
    ...urls.map((url) => `#   ${url}`),
    "#!/bin/sh",
    `exec ${quote(`${folder}/svn-trigger.sh`)} "$1" "$2"`
  ]
}
