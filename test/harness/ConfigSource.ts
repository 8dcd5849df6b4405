/** The editor of the database configuration over a real file and a SQLite database in memory, for suites of its users. */
import { Context, Effect, Layer } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import type { Env } from "../../src/config/Credentials.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { layerFile } from "../../src/config/snapshots/FileConfigStore.ts"
import { ActivationStore } from "../../src/config/revisions/ActivationStore.ts"
import { ConfigEditor } from "../../src/config/revisions/ConfigEditor.ts"
import { RevisionStore } from "../../src/config/revisions/RevisionStore.ts"
import * as ConfigEditing from "../../src/config/revisions/ConfigEditing.ts"
import * as FollowRevisions from "../../src/config/revisions/FollowRevisions.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import type { SourceStores } from "../../src/store/configuration/SqlSource.ts"
import { layerSql } from "../../src/store/configuration/SqlSource.ts"

export const sealingKey = "11".repeat(32)

/** Writes a configuration file with the database enabled; returns its path. */
export const writeConfig = (document: Readonly<Record<string, unknown>>): string => {
  const file = join(mkdtempSync(join(tmpdir(), "aicr-source-")), "config.yaml")
  writeFileSync(file, stringify({ config_sources: { database: { enabled: true } }, ...document }))
  return file
}

/** The database of one installation, shared by its nodes. */
export const memoryStores: Layer.Layer<SourceStores> = layerSql("default").pipe(
  Layer.provide(Store.layerMemory),
  Layer.orDie
)

export interface EditorOptions {
  readonly document?: Readonly<Record<string, unknown>>
  readonly env?: Env
  readonly node?: string
}

/** A node with a configuration file: the editor and the configuration it works with. */
export const editorOn = (file: string, env: Env, node: string) =>
  Layer.merge(ConfigEditing.layer, FollowRevisions.layer).pipe(
    Layer.provideMerge(layerFile(file, env, { revisions: () => Effect.succeed([]) })),
    Layer.provide(NodeIdentity.layer(node)),
    Layer.orDie
  )

/** A node of an installation with a file of its own. */
export const editorNode = ({ document = {}, env = {}, node = "node-1" }: EditorOptions = {}) =>
  Layer.unwrap(Effect.sync(() => editorOn(writeConfig(document), { SVC_CONFIG_SECRETS_KEY: sealingKey, ...env }, node)))

/** One node with a database of its own. */
export const editorAlone = (options: EditorOptions = {}) =>
  editorNode(options).pipe(Layer.provideMerge(Layer.fresh(memoryStores)))

/** Starts nodes over one database in memory. */
export const startNodes = Effect.fnUntraced(function* (...nodes: ReadonlyArray<EditorOptions>) {
  const stores = yield* Layer.build(Layer.fresh(memoryStores))
  return yield* Effect.forEach(nodes, (node) => startNode(stores, node))
})

/** Starts a node over these stores. */
export const startNode = Effect.fnUntraced(function* (stores: Context.Context<SourceStores>, options: EditorOptions) {
  const node = yield* Layer.build(Layer.fresh(editorNode(options))).pipe(Effect.provideContext(stores))
  return {
    editor: Context.get(node, ConfigEditor),
    config: Context.get(node, ConfigStore),
    revisions: Context.get(stores, RevisionStore),
    activations: Context.get(stores, ActivationStore)
  }
})

/** Seals all credentials with the current key, and returns the job at its end. */
export const resealAll = Effect.fnUntraced(function* (editor: ConfigEditor["Service"], actor: string) {
  const started = yield* editor.startReseal(actor)
  if (started._tag === "Refused") return yield* Effect.die(new Error(JSON.stringify(started.problems)))
  let { job } = started
  while (job.state === "running") {
    yield* Effect.promise(() => new Promise((resume) => setTimeout(resume, 5)))
    job = (yield* editor.resealJob) ?? job
  }
  return job
})
