/** Folders of agent CLIs on this node. */
import { existsSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import type { Snapshot } from "../config/Snapshot.ts"

type Located = Pick<Snapshot, "baseDir" | "document">

/** The folder with data of this node, next to the objects; undefined for a command on a machine without it. */
const dataFolder = ({ baseDir, document: { storage } }: Located): string | undefined => {
  const folder = dirname(resolve(baseDir, storage.object.filesystem.root))
  return existsSync(folder) ? folder : undefined
}

/** The folder of installed CLIs on machines without a data folder. */
const homeFolder = (): string =>
  join(process.env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share"), "aicr", "agents")

/** The folder of installed CLIs: SVC_AGENTS_DIR, or in the data folder. */
export const agentsFolder = (snapshot: Located): string => {
  const data = dataFolder(snapshot)
  return process.env["SVC_AGENTS_DIR"] ?? (data === undefined ? homeFolder() : join(data, "agents"))
}

/** The folder of sandboxes and sockets, which a start clears of those of killed processes. */
export const sandboxFolder = (snapshot: Located): string =>
  join(dataFolder(snapshot) ?? join(tmpdir(), `aicr-${process.getuid?.() ?? 0}`), "sandboxes")
