/**
 * Tokens with which programs use the service in place of a person: what they may do and where. The text of a token is known to its holder alone.
 * Pure.
 */
import { createHash } from "node:crypto"
import { Schema } from "effect"
import { AccessRole } from "./AccessRole.ts"
import { repositoryKey } from "./Change.ts"
import type { Change } from "./Change.ts"
import * as Field from "./Field.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"

/** `read`: reviews with their findings. `dispute`: objections to findings. No scope includes another one. */
export const TokenScope = Schema.Literals(["read", "dispute"])
export type TokenScope = typeof TokenScope.Type

export const ServiceToken = record({
  id: Field.text,
  /** Unique among tokens that are not revoked. */
  name: Field.text,
  /** `digestToken`. */
  digest: Field.text,
  scopes: Field.json(Schema.Array(TokenScope)),
  /** Keys of repositories (`TRIGGER:OWNER/NAME`, case-folded); empty: every repository. */
  repositories: Field.json(Schema.Array(Schema.String)),
  /** Role at the administration; absent: the token reaches no path of it. */
  role: Field.optional(Field.stored(AccessRole)),
  createdBy: Field.outsideText,
  createdAt: Field.time,
  expiresAt: Field.time,
  revokedAt: Field.optional(Field.time),
  /** Full hour of the last use. */
  lastUsedAt: Field.optional(Field.time)
})
export type ServiceToken = RecordValues<typeof ServiceToken>

/** Rights of a token, which never change. */
export type TokenRights = Pick<ServiceToken, "id" | "name" | "scopes" | "repositories">

/** Begins every token, so that one in a text can be recognised (src/review/CredentialFormats.ts). */
export const tokenPrefix = "aicr-token-"

const spelling = /^aicr-token-[A-Za-z0-9_-]{43}$/

/** Returns the digest by which a token is stored, in hex; undefined for a text that is no token. */
export const digestToken = (token: string): string | undefined =>
  spelling.test(token) ? createHash("sha256").update(token).digest("hex") : undefined

/** Returns whether the token can be used at this time. */
export const isUsable = ({ expiresAt, revokedAt }: ServiceToken, now: number): boolean =>
  revokedAt === undefined && now < expiresAt

/** Name of the holder as an author and a requester. No account of a host has a space in its name. */
export const tokenHolder = ({ name }: Pick<TokenRights, "name">): string => `token ${name}`

export const mayReach = ({ repositories }: Pick<TokenRights, "repositories">, change: Change): boolean =>
  repositories.length === 0 || repositories.includes(repositoryKey(change))
