/** Reasons of requests from chat, of states of connections, and of messages that a platform does not take. */
import type { Params } from "../ReasonParams.ts"

export const chatReasons = {
  /** A request from chat ends. */
  NotForThisBot: {},
  SenderNotAuthorised: {},
  NotACommand: {},
  TooManyCommands: {},
  CommandFailed: {},
  ReviewRecordRemoved: {},
  MessageNotConfirmed: {},
  /** A connection has this state. */
  ConnectionUnusable: {},
  ClosedForGood: { why: "reason" },
  LongConnectionEnded: { code: "number" },
  LongConnectionClosed: {},
  LongConnectionFailed: {},
  TooManyMessagesWait: {},
  LongConnectionAddressInvalid: {},
  LongConnectionNotOpened: {},
  PlatformTakesNoMessages: {},
  NoConnectionAddress: { operation: "text" },
  SilentAfterPing: {},
  OtherConnectionOpened: {},
  MessageNotStored: { error: "text" },
  /** A message is not sent, or a call fails. */
  LongConnectionNotOpen: {},
  NotAcknowledged: {},
  MayBeDelivered: {},
  NoReplyAddress: {},
  OutOfVisibleRange: {},
  NoTokenReturned: {},
  DailyPersonsReached: { limit: "number", each: "number", accounts: "number" },
  TooManyListed: { count: "number" },
  PageRepeated: {},
  NotOnPlatform: { platform: "text" },
  DirectoryIncomplete: { seconds: "number" },
  CheckConnectionCredentials: {},
  ApplicationLacksPermission: {},
  PlatformLimitsRequests: {},
  /** A chat bot does not take a message. */
  BotLimitsRequests: {},
  BotUnavailable: {},
  BotResponded: { status: "number", advice: "reason?" },
  BotUnreadable: { advice: "reason" },
  CheckWebhookUrl: {},
  BotRefused: { code: "number", words: "text" },
  BotUrlInvalid: {},
  BotUnreachable: { error: "text" },
  BotSilent: {}
} as const satisfies Record<string, Params>
