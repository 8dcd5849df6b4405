/** Fields that others changed too, with the value before, theirs and yours. The user chooses one of the two for each. */
import { useState } from "react"
import { Failure, Panel } from "../parts/Panel.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { t } from "../text/T.ts"
import { resolveEdit } from "./CheckEdit.ts"
import type { CheckedEdit } from "./CheckEdit.ts"
import { conflictKey } from "./ResolveConflicts.ts"
import type { Choice, FieldConflict } from "./ResolveConflicts.ts"
import { fullPath, renderValue } from "./RenderValue.ts"

interface RowProps {
  readonly conflict: FieldConflict
  readonly choice: Choice | undefined
  readonly onChoose: (choice: Choice) => void
}

const ConflictRow = ({ choice, conflict, onChoose }: RowProps) => {
  const key = conflictKey(conflict)
  const option = (name: Choice, value: unknown) => (
    <label className="choice">
      <input type="radio" name={key} checked={choice === name} onChange={() => onChoose(name)} />
      <span className="hidden">{t(`edit.take.${name}`)}</span>
      <span className="mono">{renderValue(value)}</span>
    </label>
  )
  return (
    <tr>
      <th className="mono">{fullPath(conflict)}</th>
      <td className="mono">{renderValue(conflict.base)}</td>
      <td>{option("theirs", conflict.head)}</td>
      <td>{option("mine", conflict.yours)}</td>
    </tr>
  )
}

interface Props {
  readonly checked: CheckedEdit
  readonly conflicts: ReadonlyArray<FieldConflict>
  readonly onResolved: (checked: CheckedEdit) => void
}

export const ChooseValues = ({ checked, conflicts, onResolved }: Props) => {
  const [choices, setChoices] = useState<Readonly<Record<string, Choice>>>({})
  const [failure, setFailure] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  if (conflicts.length === 0) return null
  const all = (choice: Choice) => setChoices(Object.fromEntries(conflicts.map((one) => [conflictKey(one), choice])))
  const resolve = async () => {
    setPending(true)
    setFailure(undefined)
    try {
      onResolved(await resolveEdit(checked, conflicts, choices))
    } catch (error) {
      setFailure(error)
    }
    setPending(false)
  }
  return (
    <Panel
      title={t("edit.conflicts")}
      note={t("edit.conflicts.note")}
      actions={
        <>
          {(["theirs", "mine"] as const).map((choice) => (
            <button key={choice} type="button" className="small" onClick={() => all(choice)}>
              {t(`edit.all.${choice}`)}
            </button>
          ))}
          <button
            type="button"
            className="small primary"
            disabled={isPending || conflicts.some((one) => choices[conflictKey(one)] === undefined)}
            onClick={() => void resolve()}
          >
            {t("edit.resolve")}
          </button>
        </>
      }
      flush
    >
      {failure === undefined ? null : <Failure error={failure} />}
      <Scroll label={t("edit.conflicts")}>
        <table>
          <thead>
            <tr>
              <th>{t("config.path")}</th>
              <th>{t("edit.base")}</th>
              <th>{t("edit.theirs")}</th>
              <th>{t("edit.mine")}</th>
            </tr>
          </thead>
          <tbody>
            {conflicts.map((conflict) => (
              <ConflictRow
                key={conflictKey(conflict)}
                conflict={conflict}
                choice={choices[conflictKey(conflict)]}
                onChoose={(choice) => setChoices({ ...choices, [conflictKey(conflict)]: choice })}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}
