-- owner: tenancy
-- takes: instance
-- Everything from identity upwards asks for the instance's row, so it belongs to the lowest domain that may know of a company.
COMMENT ON TABLE instance IS 'One row at most, made by the first run; owned by tenancy.';
