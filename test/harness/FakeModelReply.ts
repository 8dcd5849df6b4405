/** Replies of the fake model, whatever protocol they are sent in. */

export interface FakeCall {
  readonly name: string
  /** Group of the tool in OpenAI Responses. */
  readonly namespace?: string
  readonly input: unknown
}

export type Reply =
  /** A regular reply. `refused`: the provider's own refusal of the model. `cutOff`: it ended at its limit of tokens. */
  | {
      readonly calls?: ReadonlyArray<FakeCall>
      readonly text?: string
      readonly refused?: boolean
      readonly cutOff?: boolean
      readonly usage?: { readonly input: number; readonly output: number; readonly cached: number }
      readonly headers?: Readonly<Record<string, string>>
      readonly delayMillis?: number
      /** Waited for between the events of a streamed reply, before the event with this number. */
      readonly pace?: (event: number) => Promise<void>
    }
  /** 200 with these pieces of an event stream, written as fast as they are read. */
  | { readonly stream: Iterable<string> | AsyncIterable<string> }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Sends no response. `headers`: sends the status line without a body. */
  | { readonly stall: "silent" | "headers" }
  /** Closes the connection in the middle of the body. */
  | { readonly cut: true }
  /** 200 with a body that is no JSON. */
  | { readonly invalidJson: true }
