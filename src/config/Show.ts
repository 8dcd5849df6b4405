/** Lists the effective values, each with the layer that it comes from. Secrets are masked. */
import { Redacted } from "effect"
import type { Path } from "./document/Path.ts"
import { formatPath, isRecord, valueAt } from "./document/Path.ts"
import type { Snapshot } from "./Snapshot.ts"
import { defaultWorkPath } from "./snapshots/WorkPath.ts"

export interface ShownValue {
  readonly path: string
  readonly value: unknown
  /** Origin of the value: `default`, `document`, or the layer's path. */
  readonly origin: string
}

export const mask = "********"

/** Returns plain data with masked secrets. */
export const masked = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return mask
  if (Array.isArray(value)) return value.map(masked)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner)]))
}

interface Layer {
  readonly name: string
  readonly value: unknown
}

/** Lists the document with global defaults filled in. */
export const showDocument = (snapshot: Snapshot): ReadonlyArray<ShownValue> =>
  leaves(
    { ...snapshot.document, workspaces: { root: snapshot.workspacesRoot, ...snapshot.document.workspaces } },
    [],
    [{ name: "document", value: snapshot.given }]
  )

/** Lists the effective values of one workspace under each field's namespace; undefined if there is no such workspace. */
export const showWorkspace = (snapshot: Snapshot, id: string): ReadonlyArray<ShownValue> | undefined => {
  const workspace = snapshot.workspaces.get(id)
  if (workspace === undefined) return undefined
  const defaults = snapshot.given.workspaces?.defaults
  const instance = snapshot.given.workspaces?.instances?.[id]
  const own = `workspaces.instances.${id}`
  const block = (name: "review" | "agent" | "outputs"): ReadonlyArray<ShownValue> =>
    leaves(
      workspace[name],
      [name],
      [
        { name: own, value: { [name]: instance?.[name] } },
        { name: "workspaces.defaults", value: { [name]: defaults?.[name] } },
        { name: "document", value: { [name]: snapshot.given[name] } }
      ]
    )
  const part = (
    name: "prompt" | "triage" | "sandbox" | "context_repositories",
    value: unknown
  ): ReadonlyArray<ShownValue> =>
    leaves(
      value,
      [name],
      [
        { name: own, value: { [name]: instance?.[name] } },
        { name: "workspaces.defaults", value: { [name]: defaults?.[name] } },
        { name: "document (agent.sandbox)", value: { sandbox: snapshot.given.agent?.sandbox } }
      ]
    )
  const chain = (
    name: "model_chain" | "triage_model_chain" | "author_resolution_model_chain",
    value: string | undefined
  ): ReadonlyArray<ShownValue> => {
    if (value === undefined) return []
    const global = name === "model_chain" ? "default_model_chain" : name
    const origin =
      instance?.[name] !== undefined
        ? own
        : defaults?.[name] !== undefined
          ? "workspaces.defaults"
          : snapshot.given.llm?.[global] !== undefined
            ? `document (llm.${global})`
            : name === "model_chain"
              ? "default"
              : "inherited"
    return [{ path: name, value, origin }]
  }
  return [
    { path: "enabled", value: workspace.enabled, origin: instance?.enabled === undefined ? "default" : own },
    ...leaves(
      {
        source_repo: instance?.source_repo,
        match: instance?.match,
        work_path: instance?.work_path ?? defaultWorkPath,
        auth: workspace.instance.auth
      },
      [],
      [{ name: own, value: instance }]
    ),
    ...chain("model_chain", workspace.modelChain),
    ...chain("triage_model_chain", workspace.triageModelChain),
    ...chain("author_resolution_model_chain", workspace.authorResolutionModelChain),
    ...scheduleOrigins(block("review")),
    ...block("agent"),
    ...block("outputs"),
    ...part("sandbox", workspace.sandbox),
    ...part("prompt", workspace.prompt),
    ...part("triage", workspace.triage),
    ...part("context_repositories", workspace.contextRepositories)
  ]
}

/** Reports an unset pull request schedule as that of automatic commits. */
const scheduleOrigins = (shown: ReadonlyArray<ShownValue>): ReadonlyArray<ShownValue> =>
  shown.map((item) => {
    if (!item.path.startsWith("review.pull_request.schedule.") || item.origin !== "default") return item
    const source = shown.find(({ path }) => path === item.path.replace("pull_request", "auto_commit"))
    return source === undefined || source.origin === "default"
      ? item
      : { ...item, origin: `${source.origin} (review.auto_commit.schedule)` }
  })

const leaves = (value: unknown, path: Path, layers: ReadonlyArray<Layer>): ReadonlyArray<ShownValue> => {
  if (value === undefined) return []
  if (isRecord(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key], layers))
  // Elements may come from different sources: those of the file, then those of the database.
  if (Array.isArray(value) && value.length > 0 && value.every(isRecord))
    return value.flatMap((inner, index) => leaves(inner, [...path, index], layers))
  const origin = layers.find((layer) => valueAt(layer.value, path) !== undefined)?.name ?? "default"
  return [{ path: formatPath(path), value: masked(value), origin }]
}
