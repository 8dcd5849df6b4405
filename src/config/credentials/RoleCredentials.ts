/** Decides which hosts and models, with their credentials, a node needs for its roles. */
import type { Role } from "../../domain/Role.ts"
import { isRecord } from "../document/Path.ts"

/** Returns whether a node with these roles needs the credentials of git hosts. */
export const usesHosts = (roles: ReadonlySet<Role>): boolean => roles.has("executor") || roles.has("publisher")

/** Returns whether a node with these roles signs in to applications of chat platforms: publishers send messages and read members. */
export const usesChatApps = (roles: ReadonlySet<Role>): boolean => roles.has("chat") || roles.has("publisher")

/** Returns whether a node with these roles calls models. Publishers resolve authors if a chain is set for that. */
export const callsModels = (tree: unknown, roles: ReadonlySet<Role>): boolean =>
  roles.has("executor") || (roles.has("publisher") && resolvesAuthors(tree))

/** Returns whether a node with these roles signs statements of verdicts. Only publishers do, which execute nothing of a change. */
export const signsStatements = (roles: ReadonlySet<Role>): boolean => roles.has("publisher")

const resolvesAuthors = (value: unknown): boolean =>
  isRecord(value) &&
  ((value["author_resolution_model_chain"] ?? null) !== null || Object.values(value).some(resolvesAuthors))
