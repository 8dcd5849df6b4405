/** A write whose result, or the reason why it was refused, is shown in a notice. */
import type { Endpoint, Input, Output } from "../client/Endpoints.ts"
import { useAction } from "../client/Queries.ts"
import { notify, notifyError } from "./Notices.tsx"

interface Then<E extends Endpoint> {
  readonly onSuccess?: (result: Output<E>) => void
  readonly onSettled?: () => void
}

export const useNoticedAction = <E extends Endpoint>(endpoint: E, refreshes: ReadonlyArray<Endpoint> = []) => {
  const action = useAction(endpoint, refreshes)
  return {
    isPending: action.isPending,
    run: (input: Input<E>, message: (result: Output<E>) => string, { onSettled, onSuccess }: Then<E> = {}): void =>
      action.mutate(input, {
        onError: notifyError,
        onSuccess: (result) => {
          notify("good", message(result))
          onSuccess?.(result)
        },
        onSettled: () => onSettled?.()
      })
  }
}
