/** Finds the environment variables that a document names, and the unset ones that prevent the service from starting. */
import type { Role } from "../../domain/Role.ts"
import type { Env } from "../Credentials.ts"
import { isBlankVariable, variable } from "../Credentials.ts"
import { Document } from "../Document.ts"
import type { Complaint } from "../document/Normalise.ts"
import type { Path } from "../document/Path.ts"
import { formatPath, isRecord, valueAt } from "../document/Path.ts"
import { isVariableName } from "../fields/Scalars.ts"
import type { Shape } from "../fields/Shape.ts"
import { callsModels, signsStatements, usesChatApps, usesHosts } from "./RoleCredentials.ts"
import { readShape } from "../fields/Shape.ts"
import type { Reason } from "../../domain/Reason.ts"
import { verbatimReason } from "../../domain/Reason.ts"

interface NamedVariable {
  readonly path: Path
  readonly name: string
}

/** Returns every variable named in a normalised document. */
export const namedVariables = (tree: unknown): ReadonlyArray<NamedVariable> => {
  const found: Array<NamedVariable> = []
  walk(readShape(Document), tree, [], found)
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

/**
 * Returns named variables without a value that a node with these roles uses. Required are those that connect a store in use, the key of
 * statements on a node that signs them, the secret of logins on a node that serves the dashboard and, on a node that receives deliveries and calls, those that authenticate them.
 */
export const unsetVariables = (
  tree: unknown,
  env: Env,
  roles: ReadonlySet<Role>
): ReadonlyArray<{ readonly complaint: Complaint; readonly needed: boolean }> =>
  namedVariables(tree).flatMap(({ path, name }) => {
    if (variable(env, name) !== undefined || overruled(tree, path)) return []
    const blank = isBlankVariable(env, name)
    if (!blank && !isUsed(tree, path, roles)) return []
    const needed =
      blank ||
      connectsStore(tree, path) ||
      isSigningKey(path) ||
      isLoginSecret(path) ||
      (roles.has("ingress") && guardsEntrance(tree, path))
    const named = nameable(name)
    const reason: Reason = {
      _tag: blank ? "VariableBlank" : needed ? "VariableNeeded" : "VariableNotSet",
      variable: named
    }
    return [{ complaint: { path, reason, at: "value" }, needed }]
  })

/** Returns whether a text may be repeated in messages as a variable's name, because a token may have been written by mistake. */
const looksLikeName = (name: string): boolean =>
  !looksLikeToken(name) && (/^[A-Z_][A-Z0-9_]*$/.test(name) || name.length <= 16)

const nameable = (name: string): Reason => (looksLikeName(name) ? verbatimReason(name) : { _tag: "NamedHere" })

const tokenPrefixes =
  /^(?:gh[opsur]_|github_pat_|gl[a-z]+_|sk_|pk_|xox[abprs]_|AKIA|ASIA|AIza|whsec_|npm_|hf_)[A-Za-z0-9_]{8,}$/

/** Returns whether a text is too long and too mixed with digits for a name. */
const looksLikeToken = (name: string): boolean =>
  tokenPrefixes.test(name) ||
  name.split("_").some((word) => word.length >= 20 && /\d/.test(word) && /[A-Za-z]/.test(word))

/** Finds credentials written in place of their variable's name. The name of a set variable is not reported. */
export const misplacedTokens = (tree: unknown, env: Env): ReadonlyArray<Complaint> =>
  namedVariables(tree).flatMap(({ path, name }) =>
    variable(env, name) === undefined && looksLikeToken(name)
      ? [{ path, reason: { _tag: "CredentialForName" }, at: "value" }]
      : []
  )

/** Returns whether a literal of the same credential takes precedence. */
const overruled = (tree: unknown, path: Path): boolean => {
  const field = String(path.at(-1))
  const holder = valueAt(tree, path.slice(0, -1))
  return field.endsWith("_env") && isRecord(holder) && holder[field.slice(0, -4)] !== undefined
}

/** Formats the path as in the reference, with 0 for every index. */
const fieldOf = (path: Path): string => formatPath(path.map((segment) => (typeof segment === "number" ? 0 : segment)))

const guardsEntrance = (tree: unknown, path: Path): boolean => {
  const holder = valueAt(tree, path.slice(0, -1))
  const at = (...segments: Path): unknown => valueAt(tree, segments)
  const enabled = !isRecord(holder) || holder["enabled"] !== false
  const field = fieldOf(path)
  if (field === "triggers[0].webhook_secret_env" || field === "server.auth.api_key_env") return enabled
  if (path[0] === "workspaces" && path[1] === "instances" && path.length === 5 && path[3] === "auth")
    return enabled && at("workspaces", "instances", path[2] ?? "", "enabled") !== false
  if (path[0] === "im" && path[1] === "connections" && path[3] === "callback")
    return at(...path.slice(0, 4), "enabled") === true && at(...path.slice(0, 3), "enabled") !== false
  return false
}

const isSigningKey = (path: Path): boolean => path[0] === "server" && path[1] === "statements"

const isLoginSecret = (path: Path): boolean => path[0] === "admin" && path[1] === "oidc"

/** Returns whether a node with these roles uses the variable. Fields without a row below are used by every node. */
const isUsed = (tree: unknown, path: Path, roles: ReadonlySet<Role>): boolean => {
  if (guardsEntrance(tree, path)) return roles.has("ingress")
  if (path[0] === "admin") return roles.has("dashboard")
  if (path[0] === "im" && path[1] === "connections") return usesChatApps(roles)
  if (isSigningKey(path)) return signsStatements(roles)
  if (path[0] === "llm" && path[1] === "providers") return callsModels(tree, roles)
  if (/^triggers\[0\]\.(?:token_env|app\.)/.test(fieldOf(path))) return usesHosts(roles)
  return true
}

const connectsStore = (tree: unknown, path: Path): boolean => {
  const at = (...segments: Path): unknown => valueAt(tree, segments)
  const field = fieldOf(path)
  if (field === "storage.database.postgres.url_env") return at("storage", "database", "kind") === "postgres"
  if (field === "storage.cache.redis.url_env") return redisUsers(tree).length > 0
  return path[0] === "storage" && path[2] === "s3" && at("storage", "object", "kind") === "s3"
}

/** Returns the fields by which the document connects to storage.cache.redis. */
export const redisUsers = (tree: unknown): ReadonlyArray<string> =>
  [
    ["storage", "cache", "kind"],
    ["queue", "kind"],
    ["llm", "model_catalog", "cache", "backend"],
    ["config_sources", "database", "backend"]
  ]
    .filter((path) => valueAt(tree, path) === "redis")
    .map((path) => path.join("."))
