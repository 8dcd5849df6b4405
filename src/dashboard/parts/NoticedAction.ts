/** A write whose result, or the reason why it was refused, is shown in a notice. */
import type { Endpoint, Input, Output } from "../client/Endpoints.ts"
import { useAction } from "../client/Queries.ts"
import { notify, notifyError } from "./Notices.tsx"

export const useNoticedAction = <E extends Endpoint>(endpoint: E, refreshes: ReadonlyArray<Endpoint> = []) => {
  const action = useAction(endpoint, refreshes)
  return {
    isPending: action.isPending,
    run: (input: Input<E>, message: (result: Output<E>) => string, onSettled?: () => void): void =>
      action.mutate(input, {
        onError: notifyError,
        onSuccess: (result) => notify("good", message(result)),
        onSettled: () => onSettled?.()
      })
  }
}
