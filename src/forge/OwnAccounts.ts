/**
 * The account names behind our credentials, by trigger, as far as they are known. Learnt when a client first asks its host
 * who it is; read synchronously at admission, so that our own events start no work.
 */
import { Context, Layer } from "effect"

export class OwnAccounts extends Context.Service<
  OwnAccounts,
  {
    readonly of: (trigger: string) => string | undefined
    readonly learn: (trigger: string, username: string) => void
  }
>()("aicr/forge/OwnAccounts") {
  static readonly layer = Layer.sync(OwnAccounts, () => {
    const names = new Map<string, string>()
    return OwnAccounts.of({
      of: (trigger) => names.get(trigger),
      learn: (trigger, username) => {
        names.set(trigger, username)
      }
    })
  })
}
