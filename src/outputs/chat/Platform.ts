/** Contract of a platform of messages. Rows of one table (BotMessage.ts); pure. */
import type { Severity } from "../../domain/Kinds.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { ReviewData } from "../../domain/ReviewData.ts"
import type { PublishInput } from "../channels/Channel.ts"
import type { SafeText } from "../SafeText.ts"

export interface ChatMessage {
  readonly title: string
  readonly body: string
  readonly severity: Severity | undefined
  /** The review as data, for platforms that read it. */
  readonly review?: ReviewData | undefined
}

/** People whom a message notifies. */
export interface People {
  /** Account of the author; undefined if unknown. */
  readonly author: string | undefined
  /** True if the author is named by an id of the platform. */
  readonly isMember?: boolean
  readonly everyone: boolean
  /** Telephone numbers, WeCom only. */
  readonly mobiles: ReadonlyArray<string>
}

export interface Platform {
  /** Renders external text in the platform's markup. */
  readonly safe: SafeText
  /** Maximum length of one message in UTF-8 bytes. */
  readonly limit: number
  /** Returns the text of the author's mention. */
  readonly mention: (people: People) => string
  readonly message: (message: ChatMessage) => object
  /** Builds another message for people whom the first one cannot notify; undefined on platforms without such people. */
  readonly call: ((title: string, people: Pick<People, "everyone" | "mobiles">) => object) | undefined
  /**
   * Returns the review as data, which its first message carries; undefined on platforms for people. `listed`: the findings of the message;
   * `hidden`: the number of the others.
   */
  readonly toData?: (input: PublishInput, listed: ReadonlyArray<Finding>, hidden: number) => ReviewData
}
