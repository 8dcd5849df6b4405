/** Reasons for which something is not published, or not yet. */
import type { Params } from "../ReasonParams.ts"

export const publicationReasons = {
  /** The publisher decides it. */
  OnlySummaryPublished: {},
  HeadMovedOn: { head: "text" },
  PublishersCrashed: { count: "number" },
  NothingPublished: {},
  NotDelivered: {},
  RepositoryNotPrivate: { channel: "text", repository: "text" },
  RunNotOnRecord: {},
  ChangeMovedOn: {},
  OtherNodePublishes: {},
  OtherPublisherWrites: {},
  StatusChanged: {},
  ChangeRequestStays: { status: "reason" },
  PersonHasDraft: { count: "number" },
  AwaitsCredential: { trigger: "text", why: "reason" },
  CredentialNotRestored: { trigger: "text", hours: "number", why: "reason" },
  NoNumber: { kind: "text" },
  IssueChanged: { number: "number" },
  /** The workspace reviews without publishing. */
  InShadow: {},
  /** There is nothing to write. */
  NoSummaryToUpdate: {},
  CommentsExist: {},
  NoCommentToResolve: {},
  NoChangeRequest: {},
  IssuesCurrent: {},
  GoneAtHost: {},
  CheckRefused: {},
  NoReactionsAtHost: {},
  AuthorNotMapped: { channel: "text" },
  AuthorOptedOut: {},
  /** The configuration does not have it, or does not permit it. */
  ChannelMissing: { channel: "text", workspace: "text" },
  NoticeChannelMissing: { channel: "text" },
  ChannelKindChanged: { channel: "text", operation: "text" },
  ChannelUnusable: { channel: "text", why: "reason" },
  CredentialOfOtherHost: { trigger: "text" },
  NoPullRequests: { trigger: "text", kind: "text" },
  OtherHostKind: { kind: "text", trigger: "text", host: "text" },
  OtherHost: { trigger: "text", own: "text" },
  OtherServer: { trigger: "text", own: "text" },
  ConnectionMissing: { connection: "text" },
  NoApplicationSecret: {},
  NoConnectionOrTarget: {},
  NoWebhookUrl: { channel: "text" },
  NoMailServer: { channel: "text" },
  SwarmWithoutAddress: { channel: "text" },
  SwarmWithoutUser: { channel: "text" },
  SwarmWithoutCredential: { channel: "text" }
} as const satisfies Record<string, Params>
