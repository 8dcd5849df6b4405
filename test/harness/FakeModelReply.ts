/** Replies of the fake model, whatever protocol they are sent in. */

export interface FakeCall {
  readonly name: string
  readonly input: unknown
}

export type Reply =
  /** A regular reply. `refused`: the provider's own refusal of the model. */
  | {
      readonly calls?: ReadonlyArray<FakeCall>
      readonly text?: string
      readonly refused?: boolean
      readonly usage?: { readonly input: number; readonly output: number; readonly cached: number }
      readonly delayMillis?: number
    }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Sends no response. `headers`: sends the status line without a body. */
  | { readonly stall: "silent" | "headers" }
  /** Closes the connection in the middle of the body. */
  | { readonly cut: true }
  /** 200 with a body that is no JSON. */
  | { readonly invalidJson: true }
