/** Why a request to a host or a chat platform failed, and what to do about it. */
import type { Params } from "../ReasonParams.ts"

export const hostReasons = {
  /** Of a request. */
  HostRefused: {
    operation: "text",
    status: "number",
    code: "number?",
    words: "text?",
    permissions: "text?",
    advice: "reason?"
  },
  HostSilent: { operation: "text", error: "reason", advice: "reason?" },
  ConnectionClosed: {},
  HostUnreadable: { operation: "text", status: "number", detail: "text", advice: "reason?" },
  RequestFailed: { operation: "text", why: "reason" },
  RateLimitHolds: { operation: "text", seconds: "number" },
  AccountLimited: { seconds: "number" },
  PermitsUnavailable: { error: "text?" },
  /** What to do. */
  CheckCredential: {},
  GrantAccess: {},
  MissingOrHidden: {},
  CredentialLimited: {},
  CheckBaseUrl: {},
  CheckChannelBaseUrl: { channel: "text" },
  /** What to check about a connection, by the error of Node.js. */
  CertificateUntrusted: {},
  NameUnresolved: {},
  NothingListens: {},
  Unreachable: {},
  NoTls: {},
  /** Of the configuration of a trigger. */
  NoBaseUrl: { trigger: "text" },
  NoOutboundCredential: { trigger: "text" },
  CertificatesUnreadable: { trigger: "text?", channel: "text?", path: "text" },
  /** Of a GitHub App. */
  AppKeyVariableUnset: { trigger: "text", variable: "text" },
  AppKeyMissing: { trigger: "text" },
  AppKeyUnreadable: { trigger: "text", path: "text" },
  AppKeyInvalid: { trigger: "text" },
  AppIdMissing: { trigger: "text" },
  AppNotInstalled: { trigger: "text", repository: "text" },
  /** Of what the host returned. */
  NoAccountNamed: {},
  NoVersionOfHead: { number: "number", head: "text" },
  NoCommitsOnBranch: { branch: "text", repository: "text" },
  WriteAccessUnknown: { person: "text" },
  /** Of Swarm. */
  SwarmRefusesUser: { user: "text", channel: "text" },
  SwarmUserLacksPermission: { user: "text", channel: "text" },
  HiddenFromSwarmUser: { user: "text", channel: "text" },
  SwarmLimitsUser: {},
  SwarmCommentsMissing: { review: "text", count: "number" },
  SwarmCommentsTooLong: { review: "text", count: "number" },
  SwarmCommentsTooMany: { review: "text", count: "number" },
  SwarmCommentWritten: {},
  NoSwarmReview: { changelist: "text", user: "text", channel: "text" }
} as const satisfies Record<string, Params>
