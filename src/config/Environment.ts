/** The environment variables that a document names, and which of the unset ones keep the service from starting. */
import type { Env } from "./Credentials.ts"
import { variable } from "./Credentials.ts"
import { Document } from "./Document.ts"
import type { Complaint } from "./Normalise.ts"
import type { Path } from "./Path.ts"
import { formatPath, isRecord, valueAt } from "./Path.ts"
import { isVariableName } from "./Scalars.ts"
import type { Shape } from "./Shape.ts"
import { shapeOf } from "./Shape.ts"

export interface NamedVariable {
  readonly path: Path
  readonly name: string
}

/** Every variable named in a normalised document. */
const namedVariables = (tree: unknown): ReadonlyArray<NamedVariable> => {
  const found: Array<NamedVariable> = []
  walk(shapeOf(Document), tree, [], found)
  return found
}

const walk = (shape: Shape, value: unknown, path: Path, found: Array<NamedVariable>): void => {
  if (shape.type === "scalar") {
    if (shape.limits.env === true && typeof value === "string" && isVariableName(value))
      found.push({ path, name: value })
  } else if (shape.type === "list") {
    if (Array.isArray(value)) value.forEach((item, index) => walk(shape.item, item, [...path, index], found))
  } else if (shape.type === "union") {
    for (const member of shape.members) walk(member, value, path, found)
  } else if (shape.type === "object" && isRecord(value)) {
    for (const key of Object.keys(value)) {
      const inner = shape.fields.get(key)?.shape ?? shape.rest
      if (inner !== undefined) walk(inner, value[key], [...path, key], found)
    }
  }
}

/** Named variables without a value. Needed are those that guard an entrance or connect a store in use. */
export const unsetVariables = (
  tree: unknown,
  env: Env
): ReadonlyArray<{ readonly complaint: Complaint; readonly needed: boolean }> =>
  namedVariables(tree).flatMap(({ path, name }) => {
    if (variable(env, name) !== undefined || overruled(tree, path)) return []
    const needed = isNeeded(tree, path)
    const message = `the environment variable ${nameable(name)} is not set${needed ? "; set it, or remove the field" : ""}`
    return [{ complaint: { path, message, at: "value" }, needed }]
  })

/** A token that was put where its variable's name belongs is not repeated: only what looks like a name is. */
const nameable = (name: string): string => (/^[A-Z_][A-Z0-9_]*$/.test(name) || name.length <= 16 ? name : "named here")

/** A literal beside it is used in its place. */
const overruled = (tree: unknown, path: Path): boolean => {
  const field = String(path.at(-1))
  const holder = valueAt(tree, path.slice(0, -1))
  return field.endsWith("_env") && isRecord(holder) && holder[field.slice(0, -4)] !== undefined
}

const isNeeded = (tree: unknown, path: Path): boolean => {
  const holder = valueAt(tree, path.slice(0, -1))
  const at = (...segments: Path): unknown => valueAt(tree, segments)
  const place = formatPath(path.map((segment) => (typeof segment === "number" ? 0 : segment)))
  const enabled = !isRecord(holder) || holder["enabled"] !== false
  if (place === "triggers[0].webhook_secret_env" || place === "server.auth.api_key_env") return enabled
  if (path[0] === "workspaces" && path[1] === "instances" && path.length === 5 && path[3] === "auth")
    return enabled && at("workspaces", "instances", path[2] ?? "", "enabled") !== false
  if (path[0] === "im" && path[1] === "connections" && path[3] === "callback")
    return at(...path.slice(0, 4), "enabled") === true && at(...path.slice(0, 3), "enabled") !== false
  if (place === "storage.database.postgres.url_env") return at("storage", "database", "kind") === "postgres"
  if (place === "storage.cache.redis.url_env") return redisUsers(tree).length > 0
  if (path[0] === "storage" && path[2] === "s3") return at("storage", "object", "kind") === "s3"
  return false
}

/** Fields by which the document connects to storage.cache.redis. */
export const redisUsers = (tree: unknown): ReadonlyArray<string> =>
  [
    ["storage", "cache", "kind"],
    ["queue", "kind"],
    ["llm", "model_catalog", "cache", "backend"],
    ["config_sources", "database", "backend"]
  ]
    .filter((path) => valueAt(tree, path) === "redis")
    .map((path) => path.join("."))
