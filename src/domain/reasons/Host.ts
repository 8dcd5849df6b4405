/** Reasons for which a request to a host or a chat platform fails, and next steps. */
import type { Params } from "../ReasonParams.ts"

export const hostReasons = {
  /** A request has this outcome. */
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
  HostTooLarge: { operation: "text", mebibytes: "number" },
  HostUnreadable: { operation: "text", status: "number", detail: "text", advice: "reason?" },
  RequestFailed: { operation: "text", why: "reason" },
  RateLimitHolds: { operation: "text", seconds: "number" },
  AccountLimited: { seconds: "number" },
  PermitsUnavailable: { error: "text?" },
  /** The operator takes this step. */
  CheckCredential: {},
  GrantAccess: {},
  MissingOrHidden: {},
  CredentialLimited: {},
  CheckBaseUrl: {},
  BaseUrlHasApiPath: { path: "text" },
  CheckChannelBaseUrl: { channel: "text" },
  /** A connection fails, and the operator checks this. */
  CertificateUntrusted: {},
  NameUnresolved: {},
  NothingListens: {},
  Unreachable: {},
  NoTls: {},
  /** The configuration of a trigger lacks something. */
  NoBaseUrl: { trigger: "text" },
  NoOutboundCredential: { trigger: "text" },
  CertificatesUnreadable: { trigger: "text?", channel: "text?", path: "text" },
  /** A GitHub App lacks something. */
  AppKeyVariableUnset: { trigger: "text", variable: "text" },
  AppKeyMissing: { trigger: "text" },
  AppKeyUnreadable: { trigger: "text", path: "text" },
  AppKeyInvalid: { trigger: "text" },
  AppIdMissing: { trigger: "text" },
  AppNotInstalled: { trigger: "text", repository: "text" },
  /** The host returns something else. */
  NoAccountNamed: {},
  NoVersionOfHead: { number: "number", head: "text" },
  DifferenceNotComputed: { number: "number" },
  NoCommitsOnBranch: { branch: "text", repository: "text" },
  WriteAccessUnknown: { person: "text" },
  /** Swarm refuses, or returns something else. */
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
