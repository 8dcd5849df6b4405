/** Agent CLIs of a node: their programs, sandboxes, model proxies and tool servers. Wiring only. */
import { dirname, join, resolve } from "node:path"
import { CliAgents } from "../agent/CliAgents.ts"
import type { Snapshot } from "../config/Snapshot.ts"

/** The folder with data of this node alone, next to the objects. */
const dataFolder = ({ baseDir, document: { storage } }: Pick<Snapshot, "baseDir" | "document">): string =>
  dirname(resolve(baseDir, storage.object.filesystem.root))

/** The folder of installed agent CLIs: SVC_AGENTS_DIR, or in the data folder. */
export const agentsFolder = (snapshot: Pick<Snapshot, "baseDir" | "document">): string =>
  process.env["SVC_AGENTS_DIR"] ?? join(dataFolder(snapshot), "agents")

export const cliAgents = CliAgents.layerNone
