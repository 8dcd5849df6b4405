/** Implements `aicr hooks print`: prints how to install the hook scripts of Perforce and Subversion. */
import { Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { configFlag, fileOnlyFlag } from "./ConfigFlag.ts"
import { refused } from "./Exit.ts"
import { perforceHooks, subversionHooks } from "./HookText.ts"
import { readSnapshot } from "./ReadSnapshot.ts"

const kinds = {
  p4: { kind: "perforce", text: perforceHooks },
  svn: { kind: "subversion", text: subversionHooks }
} as const

const print = Command.make(
  "print",
  {
    system: Argument.Literals("SYSTEM", ["p4", "svn"] as const).pipe(Argument.withDescription("p4 or svn")),
    config: configFlag,
    fileOnly: fileOnlyFlag,
    folder: Flag.String("folder").pipe(
      Flag.withMetavar("PATH"),
      Flag.withDescription("Folder of the scripts on the machine of the server"),
      Flag.withDefault("/opt/aicr/hooks")
    )
  },
  Effect.fnUntraced(function* ({ config, fileOnly, folder, system }) {
    const snapshot = yield* readSnapshot(config, { fileOnly })
    const { kind, text } = kinds[system]
    if (!snapshot.triggersOfKind(kind).some(({ enabled }) => enabled))
      return yield* refused(
        `${config} has no enabled trigger of kind ${kind}; add one to triggers, then print its hooks`
      )
    if (/["%\p{Cc}]/u.test(folder)) return yield* refused("--folder has quotes, percent signs or control characters")
    yield* Console.log(text(snapshot, { folder: folder.replace(/(?<!\/)\/+$/, "") }).join("\n"))
  })
).pipe(
  Command.withDescription(
    "Print the lines that install a hook script (scripts/hooks), with the values of the configuration"
  ),
  Command.withExamples([
    { command: "aicr hooks print p4 --config config.yaml", description: "Lines for `p4 triggers`, and the settings" },
    { command: "aicr hooks print svn", description: "hooks/post-commit of the repository, and the settings" }
  ])
)

export const hooksCommand = Command.make("hooks").pipe(
  Command.withDescription("Hook scripts of Perforce and Subversion"),
  Command.withSubcommands([print])
)
