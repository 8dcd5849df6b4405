/** Why a request from chat ended, a connection has its state, or a chat platform took no message. */
import type { Params } from "../ReasonParams.ts"

export const chatReasons = {
  /** Of a request. */
  NotForThisBot: {},
  SenderNotAuthorised: {},
  NotACommand: {},
  TooManyCommands: {},
  CommandFailed: {},
  ReviewRecordRemoved: {},
  MessageNotConfirmed: {},
  /** Of a connection. */
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
  /** Of a message or a call to a platform. */
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
  /** Of a chat bot. */
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
