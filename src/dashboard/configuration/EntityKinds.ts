/** The entities with forms: the fields that most installations need, and which enumeration or entity a field names. */
import type { Endpoint, Output } from "../client/Endpoints.ts"
import { toFields } from "./FieldValues.ts"
import type { Fields } from "./FieldValues.ts"

export const formKinds = [
  "workspaces",
  "triggers",
  "providers",
  "model_groups",
  "channels",
  "routes",
  "prompts"
] as const
export type FormKind = (typeof formKinds)[number]

/** Field with the name of the entity, which is not part of its form. */
export const nameFields: Readonly<Record<FormKind, string>> = {
  workspaces: "",
  triggers: "name",
  providers: "id",
  model_groups: "",
  channels: "name",
  routes: "",
  prompts: ""
}

/** Fields that are shown first; all others follow on demand. */
export const mainFields: Readonly<Record<FormKind, ReadonlySet<string>>> = {
  workspaces: new Set(["source_repo", "match", "enabled", "model_chain"]),
  triggers: new Set([
    "kind",
    "enabled",
    "base_url",
    "token",
    "token_env",
    "app",
    "webhook_secret",
    "webhook_secret_env",
    "port",
    "user",
    "ticket",
    "depot_path",
    "repository_url",
    "username",
    "password",
    "cron",
    "timezone",
    "repositories"
  ]),
  providers: new Set(["kind", "base_url", "api_key", "api_key_env", "aws_region", "vertex_project", "vertex_location"]),
  model_groups: new Set([]),
  channels: new Set([
    "kind",
    "trigger",
    "min_severity",
    "max_comments",
    "review_event",
    "issue_mode",
    "webhook_url",
    "webhook_url_env",
    "secret",
    "smtp_url",
    "smtp_url_env",
    "from",
    "to",
    "connection",
    "app_id",
    "app_secret",
    "receive_id",
    "target"
  ]),
  routes: new Set(["match", "line_comments", "summary", "analysis"]),
  prompts: new Set([])
}

const kindOptions: Readonly<Record<FormKind, string>> = {
  workspaces: "",
  triggers: "triggerKind",
  providers: "providerKind",
  model_groups: "",
  channels: "channelKind",
  routes: "",
  prompts: ""
}

/** Sources of the possible values of fields, by name: entities that the field names, or an enumeration without its other spellings. */
const fieldOptions: Readonly<Record<string, string>> = {
  provider: "providers",
  model_chain: "model_groups",
  triage_model_chain: "model_groups",
  author_resolution_model_chain: "model_groups",
  trigger: "triggers",
  triggers: "triggers",
  line_comments: "channels",
  summary: "channels",
  connection: "im_connections",
  agent: "agentMode",
  default: "agentMode",
  vcs: "triggerKind",
  exact: "triggerKind",
  target_kind: "targetKind",
  source: "directorySource",
  engine: "sandboxEngine",
  base_system_prompt: "prompts",
  extra_system_prompt: "prompts"
}

/** Returns the source of the values that a field can name; undefined if there is none. */
export const optionSource = (kind: FormKind, path: ReadonlyArray<string>): string | undefined => {
  const name = path.at(-1) ?? ""
  const found = path.length === 1 && name === "kind" ? kindOptions[kind] : fieldOptions[name]
  return found === "" ? undefined : found
}

export type Effective = Output<Extract<Endpoint, "GET /config">>
type EffectiveValue = Effective["values"][number]

const locations: Readonly<Record<FormKind, string>> = {
  workspaces: "workspaces.instances",
  triggers: "triggers",
  providers: "llm.providers",
  model_groups: "llm.model_chain",
  channels: "outputs.channels",
  routes: "outputs.routes.rules",
  prompts: "prompts.system"
}

export const storedEntities = ({ document }: Effective, kind: FormKind): Fields =>
  toFields(toFields(document.entities)[kind])

/** Names and lines of the entities that the file defines, which only the file can change. */
export const fileEntities = (
  { owned_by_file: owned }: Effective,
  kind: FormKind
): ReadonlyArray<{ readonly name: string; readonly line: number | undefined }> =>
  owned
    .filter(({ entity }) => entity.startsWith(`${kind}/`))
    .map(({ entity, line }) => ({ name: entity.slice(kind.length + 1), line }))

const positionOf = (effective: Effective, kind: FormKind, name: string): string | undefined => {
  const start = locations[kind]
  if (kind === "workspaces" || kind === "model_groups" || kind === "prompts")
    return /^[A-Za-z0-9_-]+$/.test(name) ? `${start}.${name}` : `${start}[${JSON.stringify(name)}]`
  const indexOf = ({ path }: EffectiveValue): number => Number(/^\[(\d+)\]/.exec(path.slice(start.length))?.[1] ?? -1)
  const inside = effective.values.filter(({ path }) => path.startsWith(`${start}[`))
  if (kind === "routes") {
    // Rules of the file come first, then those of the database in the order of their names.
    const own = Object.keys(storedEntities(effective, kind)).toSorted()
    const count = inside.reduce((most, value) => Math.max(most, indexOf(value) + 1), 0)
    const ofFile = fileEntities(effective, kind).findIndex((one) => one.name === name)
    const at = ofFile === -1 ? own.indexOf(name) + count - own.length : ofFile
    return own.includes(name) || ofFile !== -1 ? `${start}[${at}]` : undefined
  }
  const found = inside.find(({ path, value }) => path.endsWith(`].${nameFields[kind]}`) && value === name)
  return found === undefined ? undefined : `${start}[${indexOf(found)}]`
}

/** Effective values of an entity, with paths that begin in it. */
export const entityValues = (effective: Effective, kind: FormKind, name: string): ReadonlyArray<EffectiveValue> => {
  const start = positionOf(effective, kind, name)
  if (start === undefined) return []
  return effective.values.flatMap((one) =>
    one.path.startsWith(`${start}.`) || one.path.startsWith(`${start}[`) || one.path === start
      ? [{ ...one, path: one.path.slice(start.length).replace(/^\./, "") }]
      : []
  )
}
