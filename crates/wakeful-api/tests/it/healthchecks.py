"""Uses a client of Healthchecks with a service: its URL, its API key and its ping key."""

import sys

from healthchecks_io import CheckCreate, Client

url, key, ping_key = sys.argv[1:]
client = Client(api_key=key, ping_key=ping_key, api_url=f"{url}/api/", ping_url=f"{url}/ping/", api_version=3)

made = client.create_check(CheckCreate(name="nightly", tags="db prod", desc="Backup", timeout=7200, grace=600, unique=["name"]))
assert (made.status, made.timeout, made.grace, made.tags, made.desc) == ("new", 7200, 600, "db prod", "Backup"), made
again = client.create_check(CheckCreate(name="nightly", timeout=3600, unique=["name"]))
assert (again.uuid, again.timeout) == (made.uuid, 3600), again
assert client.start_ping(uuid=made.uuid) == (True, "OK")
assert client.success_ping(uuid=made.uuid, data="all good") == (True, "OK")
found = client.get_check(made.uuid)
assert (found.status, found.n_pings) == ("up", 2), found
assert client.exit_code_ping(3, uuid=made.uuid) == (True, "OK")
assert client.get_check(made.uuid).status == "down"
assert client.fail_ping(uuid=made.uuid)[0]
assert [ping.type for ping in client.get_check_pings(made.uuid)] == ["fail", "fail", "success", "start"]
assert [flip.up for flip in client.get_check_flips(made.uuid)] == [0]
assert [check.name for check in client.get_checks(tags=["db"])] == []
assert [check.name for check in client.get_checks()] == ["nightly"]
assert client.pause_check(made.uuid).status == "paused"
assert client.success_ping(uuid=made.uuid)[0]
assert isinstance(client.get_integrations(), list)
client.delete_check(made.uuid)
assert client.get_checks() == []
print("done")
