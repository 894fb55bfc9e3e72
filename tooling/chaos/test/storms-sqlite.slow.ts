import { stormsAreWeathered } from './storms.js';

stormsAreWeathered('sqlite');
