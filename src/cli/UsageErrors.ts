/** Prints an invalid call as its errors and a hint on standard error, so that standard output holds results only. */
import { Console, Effect } from "effect"
import { CliOutput } from "effect/cli"

/** Layer of the presenter; help and version are printed as by default. */
export const layer = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.forEach(
          [...event.errors.map(({ message }) => message), `See ${event.commandPath.join(" ")} --help`],
          (line) => Console.error(line),
          { discard: true }
        )
      : CliOutput.defaultPresenter.present(event)
})
