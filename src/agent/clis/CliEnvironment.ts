/** Variables and folders that every agent CLI gets. Nothing of the service's environment is among them. */
import { dirname } from "node:path"
import { partsFolder } from "../../sandbox/Locations.ts"
import type { CliFolders } from "./Cli.ts"

export const homeFolder = "home"
export const settingsFolder = "settings"
export const workFolder = "work"

/** The sandbox's node, then the system's programs. The last folder is that of this process, for sandboxes without isolation. */
const searchPath = [partsFolder, "/usr/local/bin", "/usr/bin", "/bin", dirname(process.execPath)].join(":")

export const commonEnvironment = ({ home }: CliFolders, scratch: string): Readonly<Record<string, string>> => ({
  PATH: searchPath,
  HOME: home,
  XDG_CONFIG_HOME: `${home}/.config`,
  XDG_DATA_HOME: `${home}/.local/share`,
  XDG_STATE_HOME: `${home}/.local/state`,
  XDG_CACHE_HOME: `${home}/.cache`,
  TMPDIR: scratch,
  LANG: "C.UTF-8",
  TERM: "dumb",
  NO_COLOR: "1",
  CI: "1"
})
