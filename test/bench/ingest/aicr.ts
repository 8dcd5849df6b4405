/**
 * The ingress as it runs in the service: SQLite records synced before the response, the queue of the given kind. Reviews are not
 * part of it, so no entry leaves the queue.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { OwnAccounts } from "../../../src/forge/OwnAccounts.ts"
import { IngressServer } from "../../../src/ingress/Server.ts"
import { StoredFacts } from "../../../src/ingress/StoredFacts.ts"
import { layerMemory } from "../../../src/queue/journal/MemoryQueue.ts"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { makeSqliteJournal } from "../../../src/queue/journal/SqliteJournal.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { repository, secret } from "./Agreement.ts"
import { report } from "./Measured.ts"

const kind = process.argv[2] ?? "memory"
const directory = mkdtempSync(join(tmpdir(), "aicr-ingest-"))
process.on("exit", () => rmSync(directory, { recursive: true, force: true }))

// There is no executor, so every accepted change waits.
const limits = { perWorkspace: 1_000_000, total: 1_000_000 }

const document = {
  queue: { kind, limits: { per_workspace: limits.perWorkspace } },
  triggers: [{ name: "hub", kind: "github", webhook_secret: secret }],
  workspaces: { instances: { app: { source_repo: { trigger: "hub", repo: repository } } } }
}

const quiet = StoredFacts.layerUnpublished

const queue =
  kind === "sqlite" ? layerJournal(makeSqliteJournal(join(directory, "queue.db")), limits) : layerMemory(limits)

const parts = Layer.mergeAll(
  Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)),
  Store.layerSqlite({ path: join(directory, "aicr.db"), migrate: "auto" }),
  queue,
  quiet,
  OwnAccounts.layer
)

const serve = Effect.gen(function* () {
  const { port } = yield* IngressServer
  report(port)
  return yield* Effect.never
})

Effect.runPromise(serve.pipe(Effect.provide(IngressServer.layerWith({ port: 0 }).pipe(Layer.provideMerge(parts)))))
