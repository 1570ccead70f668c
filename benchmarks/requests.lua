-- The requests for wrk: `wrk -s requests.lua URL -- read|list|search|create TARGETS`; prints one line of JSON at the end.
local prepared, at = {}, 0
local draft = '{"title":"A note from the benchmark","body":"' .. string.rep("What we said, who does it, and by when. ", 10)
  .. '","visibility":"team"}'

local function request_for(kind, token, note)
  local headers = { ["Authorization"] = "Bearer " .. token }
  if kind == "read" then return wrk.format("GET", "/api/notes/" .. note, headers) end
  if kind == "list" then return wrk.format("GET", "/api/notes", headers) end
  if kind == "search" then return wrk.format("GET", "/api/search?q=plan+week", headers) end
  headers["Content-Type"] = "application/json"
  return wrk.format("POST", "/api/notes", headers, draft)
end

function init(arguments)
  wrk.headers["Host"] = "127.0.0.1"
  for line in io.lines(arguments[2]) do
    local token, note = line:match("(%S+) (%S+)")
    prepared[#prepared + 1] = request_for(arguments[1], token, note)
  end
  math.randomseed(os.time())
  at = math.random(#prepared)
end

function request()
  at = at % #prepared + 1
  return prepared[at]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('{"requests":%d,"seconds":%.6f,"p50_ms":%.3f,"p99_ms":%.3f,"failed":%d}', summary.requests,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
