/**
 * Known account names of the configured credentials, by trigger. A client adds its name when it first reads its own account;
 * admission reads them synchronously and ignores events by these accounts.
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
