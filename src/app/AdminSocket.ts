/** The location of the sockets that the administrations of this machine are served on. Wiring only. */
import { readdirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { Effect, Layer } from "effect"
import * as LocalSocket from "../admin/http/LocalSocket.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { makeFolder } from "../database/MakeFolder.ts"
import { NodeIdentity } from "../domain/NodeIdentity.ts"

const prefix = "admin-"
const suffix = ".sock"

/** Returns the folder of the database file, or of the objects if the database is a server. */
const findFolder = ({ baseDir, document: { storage } }: Snapshot): string =>
  storage.database.kind === "sqlite"
    ? dirname(resolve(baseDir, storage.database.sqlite.path))
    : dirname(resolve(baseDir, storage.object.filesystem.root))

/** Nodes that share a folder have one socket each. */
const toSocketPath = (snapshot: Snapshot, node: string): string =>
  join(findFolder(snapshot), `${prefix}${node.replaceAll(/[^A-Za-z0-9.-]/g, "_").slice(0, 40)}${suffix}`)

/** Lists the sockets of nodes that use the data folder of this configuration. The processes of some may have ended. */
export const listSockets = (snapshot: Snapshot): ReadonlyArray<string> => {
  const folder = findFolder(snapshot)
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(prefix) && name.endsWith(suffix))
      .map((name) => join(folder, name))
  } catch {
    // A folder that does not exist has no sockets.
    return []
  }
}

/** Serves the administration of this node on its socket. */
export const adminSocket = Layer.unwrap(
  Effect.gen(function* () {
    const { name } = yield* NodeIdentity
    const path = toSocketPath((yield* ConfigStore).current(), name)
    // The socket reports a folder that cannot be created.
    yield* Effect.ignore(Effect.try(() => makeFolder(dirname(path))))
    return LocalSocket.layer(path)
  })
)
