-- dead -> waiting, as if it had never been tried. Given: entry id, now, reason. Answers what came of it (Retried).
local id, now, reason = ...
local e = load(id)
-- Of a quarantined one whose workspace cannot be read nothing can be tried.
if not e or e[WS] == '' then return 'unknown' end
if e[STATUS] ~= 'dead' then return 'not_dead' end
if nextOf(e[TARGET]) then return 'newer' end
e[DUE], e[ATTEMPTS], e[LOSSES], e[REASON] = now, 0, 0, reason
move(e, 'waiting')
return 'retried'
